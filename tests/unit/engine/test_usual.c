/* Which metric is the objective where the user names none. */
#include "../unit.h"

#include "engine/usual.h"

static const char *choose(const char *const *names)
{
	struct metric metrics[8] = {0};
	size_t count = 0;
	for (; names[count]; count++)
		metrics[count].name = names[count];
	return usual_choose(metrics, count);
}

static void test_results_on_other_data_come_before_the_training(void **state)
{
	(void)state;
	static const struct {
		const char *names[6], *wanted;
	} cases[] = {
		{{"train_loss", "Val Loss"}, "Val Loss"},
		{{"train loss", "valid loss"}, "valid loss"},
		{{"loss", "eval_runtime", "eval_samples_per_second", "eval_loss"}, "eval_loss"},
		{{"Training Loss", "Validation Loss"}, "Validation Loss"},
		{{"loss", "valLoss"}, "valLoss"},
		{{"loss", "loss/val"}, "loss/val"},
		{{"training-l2", "valid_1-l2"}, "valid_1-l2"},
		{{"train-rmse", "valid-rmse"}, "valid-rmse"},
		{{"training's l2", "valid_0's l2"}, "valid_0's l2"},
		{{"validation_0-logloss", "validation_1-logloss"}, "validation_1-logloss"},
		{{"epoch", "loss", "test_accuracy"}, "test_accuracy"},
		{{"val_accuracy", "val_loss"}, "val_loss"},
		{{"val_box_loss", "val_acc"}, "val_acc"},
		{{"loss", "val_time"}, "loss"},
		{{"loss", "best_val_loss"}, "loss"},
		{{"val_loss (row)", "val_loss"}, "val_loss"},
		{{"train_acc", "train_loss"}, "train_loss"},
		{{"learn", "test"}, "test"},
		{{"Train", "Val", "Test"}, "Val"},
		{{"test", "loss"}, "test"},
		{{"epoch", "energy", "foo"}, "energy"},
		{{"lr", "grad_norm", "train_acc"}, "train_acc"},
		{{"length", "epsilon", "reward"}, "reward"},
		{{"train/loss", "rollout/ep_rew_mean"}, "rollout/ep_rew_mean"},
		{{"policy_loss", "episodic_return", "eval/mean_reward"}, "eval/mean_reward"},
		{{"reward_loss", "loss", "val_loss"}, "val_loss"},
		{{"Progress", "lr", "avg.loss"}, "avg.loss"},
		{{"Loss/G/loss/num", "Loss/G/loss/std", "Loss/G/loss/mean"}, "Loss/G/loss/mean"},
		{{"train_acc", "train_loss", "val_count"}, "train_loss"},
		{{"epoch"}, NULL},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const char *chosen = choose(cases[i].names);
		if (!cases[i].wanted)
			assert_null(chosen);
		else
			assert_string_equal(chosen, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_on_other_data_come_before_the_training),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
