/* A local backend with real runners in a folder of its own, for the tests: opened before each test and closed after it. */
#ifndef TESTS_LOCAL_WORLD_H
#define TESTS_LOCAL_WORLD_H

#include "../unit.h"

#include "backend/local.h"

#define TOKEN "00112233445566778899aabbccddeeff"
#define WITH_BACKEND(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

extern struct backend *backend;
extern char *root;
extern char *batch_dir;
extern char *program;
extern unsigned changes;
extern struct backend_observation sight;
extern char sight_message[256];
extern char sight_cause[32];
extern struct backend_submit_result submitted;
extern char submitted_why[256];

void open_backend(void);
void close_backend(void);
int set_up(void **state);
void turn(void);
int tear_down(void **state);
char *work_file(uint32_t index, const char *name);
void describe_task(uint32_t index, const char *shell);
void submit_with(const struct backend_resources *resources, uint32_t first, size_t count);
void submit(uint32_t first, size_t count);
enum backend_state look(uint32_t index);
void cancel(uint32_t index);
void wait_for_state(uint32_t index, enum backend_state state);
void wait_for_file(const char *path);
void wait_for_gpus(void);
char *read_text(char *give_path);
bool journal_has(uint32_t index, const char *what);
pid_t claim_pid(uint32_t index);

#endif
