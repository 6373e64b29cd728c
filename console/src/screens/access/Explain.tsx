/** Why a call is allowed or refused, asked of the same table that decides. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { callTool } from '../../calls/tools.ts';
import { Act } from '../../parts/Act.tsx';
import { Card } from '../../parts/Notice.tsx';
import { Words } from '../../parts/Words.tsx';

const explanation = z.object({
  allowed: z.boolean(),
  needs: z.string(),
  has: z.exactOptional(z.object({ role: z.string(), from: z.exactOptional(z.string()) })),
  why: z.string(),
  rule: z.exactOptional(z.string()),
  changeable_by: z.exactOptional(
    z.object({
      who: z.string(),
      people: z.array(z.object({ uid: z.string(), name: z.exactOptional(z.string()) })),
    }),
  ),
});

export function Explain() {
  const tool = useSignal('');
  const agent = useSignal('');
  const answer = useSignal<z.output<typeof explanation> | undefined>(undefined);
  const asked = () => ({
    tool: tool.value.trim(),
    ...(agent.value.trim() !== '' && { agent: agent.value.trim() }),
  });
  return (
    <Card title="Why may I, or may I not?">
      <div class="write">
        <label>
          Tool
          <input
            placeholder="coordination_cancel_task"
            value={tool.value}
            onInput={(event) => (tool.value = event.currentTarget.value)}
          />
        </label>
        <label>
          As which of my agents; empty: myself
          <input value={agent.value} onInput={(event) => (agent.value = event.currentTarget.value)} />
        </label>
        <Act
          label="Explain"
          disabled={tool.value.trim() === ''}
          act={async () => {
            answer.value = undefined;
            answer.value = await callTool('access.explain', asked(), explanation);
          }}
        />
      </div>
      {answer.value !== undefined && <Verdict of={answer.value} />}
    </Card>
  );
}

function Verdict({ of }: { readonly of: z.output<typeof explanation> }) {
  const { allowed, needs, has, why, rule, changeable_by: change } = of;
  return (
    <div role="status">
      <p>
        <strong>{allowed ? 'Allowed.' : 'Refused.'}</strong> <Words text={why} />
      </p>
      <p class="soft">
        It needs <Words text={needs} />.
        {has !== undefined &&
          ` The role that counts is ${has.role}${has.from === undefined ? '' : `, from ${has.from}`}.`}
        {rule !== undefined && (
          <>
            {' The rule: '}
            <Words text={rule} />.
          </>
        )}
        {change !== undefined && (
          <>
            {' '}
            It can be changed by <Words text={change.who} />
            {change.people.length > 0 && (
              <>
                {': '}
                <Words text={change.people.map(({ name, uid }) => name ?? uid).join(', ')} />
              </>
            )}
            .
          </>
        )}
      </p>
    </div>
  );
}
