/* Nodes as `scontrol -d -o show node` prints them: states in words, groups of equal ones, thousands of them. */
#include "backend/slurm_nodes.h"

#include "../unit.h"

#include "base/buf.h"
#include "base/node.h"

static const char two[] =
	"NodeName=gpu2 Arch=x86_64 CoresPerSocket=4 CPUAlloc=1 CPUEfctv=4 CPUTot=4 CPULoad=0.60 Gres=gpu:volta:2(S:0-1) "
	"GresDrain=N/A GresUsed=gpu:volta:1(IDX:0,1) NodeAddr=n OS=Linux 6.1 #1 SMP RealMemory=4000 AllocMem=64 FreeMem=100 "
	"State=MIXED ThreadsPerCore=1 Partitions=gpu_volta,all BootTime=2026-11-18T05:00:00 \n"
	"NodeName=cpu1 CPUAlloc=0 CPUTot=4 Gres=(null) RealMemory=4000 AllocMem=0 State=IDLE+DRAIN Partitions=cpu "
	"Reason=bad disk State=IDLE [root@2026-11-18T09:00:00]\n"
	"no node at all\n";

static struct node *write_groups(const char *text, const char *const *ours, size_t count)
{
	struct slurm_nodes nodes;
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&out);
	struct node *tree = NULL;
	slurm_nodes_parse(text, strlen(text), &nodes);
	json_map(&json);
	slurm_nodes_write(&nodes, ours, count, &json);
	json_end(&json);
	assert_int_equal(node_parse_json(buf_text(&out), out.len, &tree, NULL), 0);
	buf_free(&out);
	slurm_nodes_free(&nodes);
	return tree;
}

static void a_line_is_read(void **state)
{
	(void)state;
	struct node *tree = write_groups(two, NULL, 0);
	const struct node *groups = node_get(tree, "groups");
	assert_int_equal(node_get_int(tree, "nodes", 0), 2);
	assert_int_equal(groups->count, 2);
	const struct node *cpu = groups->items[0], *gpu = groups->items[1];
	assert_string_equal(node_get_string(cpu, "names"), "cpu1");
	assert_string_equal(node_get_string(cpu, "state"), "drained");
	assert_string_equal(node_get_string(cpu, "reason"), "bad disk State=IDLE");
	assert_int_equal(node_get_int(cpu, "gpus", -1), 0);
	assert_int_equal(node_get(cpu, "gpus_busy")->type, NODE_NULL);
	assert_string_equal(node_get_string(gpu, "state"), "mixed");
	assert_int_equal(node_get_int(gpu, "cpus_busy", 0), 1);
	assert_int_equal(node_get_int(gpu, "gpus", 0), 2);
	assert_int_equal(node_get_int(gpu, "gpus_busy", 0), 1);
	assert_string_equal(node_get_string(gpu, "gpu_type"), "volta");
	assert_string_equal(node_get_string(gpu, "partitions"), "gpu_volta,all");
	assert_int_equal(node_get_int(gpu, "memory_busy_bytes", 0), 64 << 20);
	node_free(tree);
}

static void states_have_words(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"IDLE", "idle"},
		{"MIXED+PLANNED", "mixed"},
		{"ALLOCATED", "allocated"},
		{"ALLOCATED+DRAIN", "draining"},
		{"IDLE+DRAIN", "drained"},
		{"DOWN*", "down"},
		{"DOWN+DRAIN", "down"},
		{"IDLE*", "not responding"},
		{"MIXED+NOT_RESPONDING", "not responding"},
		{"IDLE+CLOUD+POWERED_DOWN", "powered down"},
		{"IDLE~", "powered down"},
		{"MIXED+CLOUD+POWERING_UP", "starting"},
		{"IDLE+MAINT+RESERVED", "reserved"},
		{"UNKNOWN", "other"},
		{"", "other"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_string_equal(slurm_node_word(rows[i][0]), rows[i][1]);
}

/* 2,000 nodes, two with tasks of ours and three in another state. */
static void equal_nodes_are_one_row(void **state)
{
	(void)state;
	static const char *const ours[] = {"n0007", "n1500"};
	struct buf text = buf_make(BUF_UNLIMITED);
	for (int i = 2000; i > 0; i--)
		buf_addf(&text,
			 "NodeName=n%04d CPUAlloc=%d CPUTot=32 RealMemory=1000 AllocMem=10 State=%s Partitions=p\n", i,
			 i % 32, i == 20 || i == 21 || i == 30 ? "DOWN" : "MIXED");
	struct node *tree = write_groups(buf_text(&text), ours, COUNT_OF(ours));
	const struct node *groups = node_get(tree, "groups");
	static const struct {
		const char *names;
		int64_t nodes;
	} expected[] = {{"n[0020-0021,0030]", 3},
			{"n0007", 1},
			{"n1500", 1},
			{"n[0001-0006,0008-0019,0022-0029,0031-1499,1501-2000]", 1995}};
	assert_int_equal(groups->count, COUNT_OF(expected));
	for (size_t i = 0; i < COUNT_OF(expected); i++) {
		assert_string_equal(node_get_string(groups->items[i], "names"), expected[i].names);
		assert_int_equal(node_get_int(groups->items[i], "nodes", 0), expected[i].nodes);
	}
	node_free(tree);
	buf_free(&text);
}

static void names_of_other_kinds_are_listed(void **state)
{
	(void)state;
	struct node *tree = write_groups("NodeName=login State=IDLE\nNodeName=a1 State=IDLE\nNodeName=a01 State=IDLE\n"
					 "NodeName=a2 State=IDLE\n",
					 NULL, 0);
	assert_string_equal(node_get_string(node_get(tree, "groups")->items[0], "names"), "a[1-2],a01,login");
	node_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_read),
		cmocka_unit_test(states_have_words),
		cmocka_unit_test(equal_nodes_are_one_row),
		cmocka_unit_test(names_of_other_kinds_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
