/** What a tool answers, for screens that no listener serves: asked when it is shown, and again when something was done. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Live } from '../live/live.ts';
import { Refusal } from './tools.ts';

export interface Answered<Value> {
  readonly live: Live<Value>;
  /** Asks once more. */
  again(): void;
}

/** @param key what is asked: when it changes, the answer before is forgotten */
export function useAnswer<Value>(key: string, ask: () => Promise<Value>): Answered<Value> {
  const live = useSignal<Live<Value>>({ state: 'loading' });
  const turn = useSignal(0);
  const { value } = turn;
  useEffect(() => {
    let isOver = false;
    ask().then(
      (answer) => {
        if (!isOver) live.value = { state: 'live', value: answer };
      },
      (error: unknown) => {
        if (!isOver) live.value = refused(error);
      },
    );
    return () => {
      isOver = true;
    };
    // What asks is new at each turn, and what it asks is not.
  }, [key, value]);
  return {
    live: live.value,
    again() {
      turn.value++;
    },
  };
}

function refused(error: unknown): Live<never> {
  if (error instanceof Refusal && error.code === 'FORBIDDEN') return { state: 'denied' };
  return { state: 'failed', why: error instanceof Error ? error.message : String(error) };
}
