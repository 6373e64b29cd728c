/** Form that starts a run; the run's page shows its result. Source: docs/reference/orchestration.md. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { runs as text } from '../../../text/runs.ts';
import { task } from '../../../text/task.ts';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { Field } from '../../parts/Field.tsx';
import { addressOf, go, parameter } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';

const WORKFLOWS = ['auto', 'direct', 'plan-execute', 'competitive', 'iterative'] as const;
const MAX_DOLLARS = 10_000;

const startedRun = z.object({ runId: z.string() });

export function StartRun() {
  const prompt = useSignal(parameter('prompt') ?? '');
  const workflow = useSignal<string>('auto');
  const dollars = useSignal('1');
  const max = Number(dollars.value.replace(',', '.'));
  const isPossible = Number.isFinite(max) && max > 0 && max <= MAX_DOLLARS;
  return (
    <section class="card pad stack" aria-label={text.ask}>
      <h2>{text.ask}</h2>
      <label>
        <span class="away">{text.prompt}</span>
        <textarea
          class="input"
          placeholder={text.promptHint}
          value={prompt.value}
          onInput={(event) => (prompt.value = event.currentTarget.value)}
        />
      </label>
      <div class="write">
        <Field label={text.workflow}>
          {(field) => (
            <select
              {...field}
              value={workflow.value}
              onChange={(event) => (workflow.value = event.currentTarget.value)}>
              {WORKFLOWS.map((name) => (
                <option key={name} value={name}>
                  {text.workflows[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={task.spendingLimit} error={isPossible ? '' : text.badLimit}>
          {(field) => (
            <input
              {...field}
              inputMode="decimal"
              value={dollars.value}
              onInput={(event) => (dollars.value = event.currentTarget.value)}
            />
          )}
        </Field>
        <ActionButton
          kind="primary"
          icon="run"
          label={text.start}
          disabled={!isPossible || prompt.value.trim() === ''}
          act={async () => {
            // Does not wait for the end, because the run's page shows progress.
            const asked = {
              prompt: prompt.value.trim(),
              preferences: { workflow: workflow.value },
              options: { timeout: 0, budget: { cost_usd: max } },
            };
            const { runId } = await act('orchestration.orchestrate', asked, startedRun);
            prompt.value = '';
            go(addressOf([PAGES.run, runId]));
          }}
        />
      </div>
    </section>
  );
}
