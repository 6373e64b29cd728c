/** Action on many items, with progress and a way to stop it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { tasks as text } from '../../text/tasks.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { inBatches } from '../calls/inBatches.ts';
import { actBatch, type Call } from '../calls/tools.ts';

/** Calls in one request. An action that is stopped ends after such a group. */
const GROUP = 10;

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly done: number; readonly of: number; readonly isStopping: boolean }
  | { readonly kind: 'ended'; readonly trouble: string };

export interface ItemCall extends Call {
  readonly id: string;
  readonly title: string;
}

export interface BulkAction {
  readonly state: State;
  /** @returns ids of the tasks that were refused or skipped */
  run(calls: readonly ItemCall[]): Promise<readonly string[]>;
  stop(): void;
}

/** The action stops when its screen closes, because its Stop button is then gone. */
export function useBulkAction(): BulkAction {
  const state = useSignal<State>({ kind: 'idle' });
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  return {
    state: state.value,
    async run(calls) {
      isStopped.current = false;
      const { refused, left } = await inBatches<ItemCall>(calls, {
        size: GROUP,
        send: actBatch,
        progress: (done) => {
          state.value = { kind: 'running', done, of: calls.length, isStopping: isStopped.current };
        },
        isStopped: () => isStopped.current,
      });
      const [first] = refused;
      const sentences = [
        left.length > 0 ? fill(text.stoppedAfter, { done: calls.length - left.length, n: calls.length }) : undefined,
        first &&
          fill(text.couldNot, { refused: refused.length, n: calls.length, title: first.item.title, why: first.why }),
      ].filter((sentence) => sentence !== undefined);
      state.value = sentences.length === 0 ? { kind: 'idle' } : { kind: 'ended', trouble: sentences.join(' ') };
      return [...refused.map(({ item }) => item), ...left].map(({ id }) => id);
    },
    stop() {
      isStopped.current = true;
      if (state.value.kind === 'running') state.value = { ...state.value, isStopping: true };
    },
  };
}

export function Progress({ of: { state, stop } }: { readonly of: BulkAction }) {
  if (state.kind === 'idle') return null;
  if (state.kind === 'ended') {
    return (
      <p class="notice bad" role="alert">
        <Icon of="warn" />
        <UserText text={state.trouble} />
      </p>
    );
  }
  return (
    <p class="acts">
      <Meter parts={[['lead', state.of === 0 ? 0 : state.done / state.of]]} />
      <span role="status">{fill(text.progress, { done: state.done, n: state.of })}</span>
      <button type="button" class="b small" disabled={state.isStopping} onClick={stop}>
        {text.stop}
      </button>
    </p>
  );
}
