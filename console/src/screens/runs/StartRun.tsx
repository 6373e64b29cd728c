/** Form that starts a run; the run's page shows its result. Source: docs/reference/orchestration.md. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { runs as text } from '../../../text/runs.ts';
import { task } from '../../../text/task.ts';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { addressOf, go, parameter } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';

const WORKFLOWS = Object.entries(text.workflows);
const MAX_DOLLARS = 10_000;

const startedRun = z.object({ runId: z.string() });

export function StartRun() {
  const prompt = useSignal(parameter('prompt') ?? '');
  const workflow = useSignal('auto');
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
        <SelectField label={text.workflow} of={workflow} options={WORKFLOWS} />
        <TextField
          label={task.spendingLimit}
          error={isPossible ? '' : text.badLimit}
          inputMode="decimal"
          of={dollars}
        />
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
