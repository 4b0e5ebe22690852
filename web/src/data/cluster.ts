// What the backends offer and what is used of it, asked for again while a page shows it.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, message, post } from './api';
import type { Cluster, ClusterUse } from './types';

// The daemon answers with what it knows and asks the cluster when that is old, so a second look soon has the news.
const SECOND_MS = 2500;
const CLUSTER_MS = 30000;
// What runs changes more often. The daemon asks the cluster for its nodes at most every 30 s.
const USE_MS = 5000;
const SOON_MS = 1000;

// `often`: what the backends have is asked for as often as what runs there.
export function useCluster(often = false) {
  const cluster = useSignal<Cluster | null>(null);
  const use = useSignal<ClusterUse | null>(null);
  const error = useSignal<string | null>(null);
  const useError = useSignal<string | null>(null);
  const loadUse = async () => {
    try {
      use.value = await get<ClusterUse>('/cluster/use');
      useError.value = null;
    } catch (problem) {
      useError.value = message(problem);
    }
  };
  // What was asked for before the question whose answer is shown is old. Questions may overlap: the newest one counts.
  const asked = useRef(0);
  const shown = useRef(0);
  const load = async () => {
    const mine = ++asked.current;
    try {
      const got = await get<Cluster>('/cluster');
      if (mine > shown.current) {
        shown.current = mine;
        cluster.value = got;
      }
      error.value = null;
    } catch (problem) {
      error.value = message(problem);
    }
  };
  const examine = async () => {
    try {
      cluster.value = await post<Cluster>('/cluster/examine');
      shown.current = asked.current;
      error.value = null;
    } catch (problem) {
      error.value = message(problem);
    }
  };
  const examining = cluster.value?.examining ?? false;
  const soon = examining || (cluster.value?.backends.some((b) => b.asking) ?? false);
  const first = use.value?.nodes.some((n) => n.asking && !n.time) ?? false;
  const second = useRef<ReturnType<typeof setTimeout>>(undefined);
  const look = () => {
    void load();
    void loadUse();
    clearTimeout(second.current);
    second.current = setTimeout(() => void Promise.all([load(), loadUse()]), SECOND_MS);
  };
  useEffect(() => {
    look();
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void load();
      },
      often ? USE_MS : CLUSTER_MS,
    );
    return () => {
      clearTimeout(second.current);
      clearInterval(timer);
    };
  }, []);
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (document.visibilityState === 'visible') void loadUse();
      },
      first ? SOON_MS : USE_MS,
    );
    return () => clearInterval(timer);
  }, [first]);
  // The test job takes a few seconds, or as long as the queue is: its findings come with the picture. So does the
  // first answer of a backend after the daemon's start.
  useEffect(() => {
    if (!soon) return undefined;
    const timer = setInterval(() => void load(), SOON_MS);
    return () => clearInterval(timer);
  }, [soon]);
  return {
    cluster: cluster.value,
    use: use.value,
    error: error.value ?? useError.value,
    examining,
    examine,
    look,
  };
}
