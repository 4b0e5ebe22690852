#!/bin/sh
# One task of bench/page: prints the curve that data.py computes for the same number. curve.sh --task=7 --points=300
for argument; do
	case $argument in
	--task=*) task=${argument#--task=} ;;
	--points=*) points=${argument#--points=} ;;
	esac
done
exec awk -v n="$task" -v points="$points" 'BEGIN {
	level = 0.2 + (n * 7919 % 1000) / 2000
	for (i = 0; i < points; i++)
		printf "epoch=%d val_loss=%.6f\n", i, level + exp(-i / 40) + 0.01 * sin(i * 12.9898 + n)
}'
