/** Form that starts a run; the run's page shows its result. Source: docs/reference/orchestration.md. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { Card } from '../../parts/Notice.tsx';
import { addressOf, go } from '../../router.ts';

const WORKFLOWS = [
  ['auto', 'as the task asks for'],
  ['direct', 'one model, one answer'],
  ['plan-execute', 'a plan, then its execution'],
  ['competitive', 'several models, the best answer'],
  ['iterative', 'in rounds, each reviewed'],
] as const;

const startedRun = z.object({ runId: z.string() });

export function StartRun() {
  const prompt = useSignal('');
  const workflow = useSignal('auto');
  const dollars = useSignal('1');
  const max = Number(dollars.value);
  const isPossible = prompt.value.trim() !== '' && Number.isFinite(max) && max > 0 && max <= 10_000;
  return (
    <Card title="Ask models">
      <div class="edit">
        <label>
          What to do
          <textarea rows={3} value={prompt.value} onInput={(event) => (prompt.value = event.currentTarget.value)} />
        </label>
        <label>
          How
          <select value={workflow.value} onChange={(event) => (workflow.value = event.currentTarget.value)}>
            {WORKFLOWS.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          May cost, in US dollars
          <input
            inputMode="decimal"
            value={dollars.value}
            onInput={(event) => (dollars.value = event.currentTarget.value)}
          />
        </label>
        <ActionButton
          label="Ask"
          kind="primary"
          disabled={!isPossible}
          act={async () => {
            // Does not wait for the end, because the run's page shows progress.
            const asked = {
              prompt: prompt.value.trim(),
              preferences: { workflow: workflow.value },
              options: { timeout: 0, budget: { cost_usd: max } },
            };
            const { runId } = await act('orchestration.orchestrate', asked, startedRun);
            prompt.value = '';
            go(addressOf(['r', runId]));
          }}
        />
      </div>
    </Card>
  );
}
