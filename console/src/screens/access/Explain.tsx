/** Explains why a call is allowed or refused. The explanation uses the same permission table as the check. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { callTool } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { Card } from '../../parts/Notice.tsx';
import { UserText } from '../../parts/UserText.tsx';

const explanation = z.object({
  allowed: z.boolean(),
  needs: z.string(),
  has: z.exactOptional(z.object({ role: z.string(), from: z.exactOptional(z.string()) })),
  why: z.string(),
  rule: z.exactOptional(z.string()),
  changeable_by: z.exactOptional(
    z.object({ who: z.string(), people: z.array(z.object({ uid: z.string(), name: z.exactOptional(z.string()) })) }),
  ),
});

/** Kinds of items to which access can be checked, each with an example for the field. */
const ABOUT = {
  tool: { words: 'a tool', example: 'coordination_cancel_task' },
  firestore: { words: 'a document', example: 'messages/default' },
  realtime: { words: 'a node of the Realtime Database', example: 'presence' },
} as const;
type About = keyof typeof ABOUT;

function aboutOf(name: string): About {
  return name === 'firestore' || name === 'realtime' ? name : 'tool';
}

export function Explain() {
  const about = useSignal<About>('tool');
  const tool = useSignal('');
  const operation = useSignal('read');
  const agent = useSignal('');
  const answer = useSignal<z.output<typeof explanation> | undefined>(undefined);
  const asked = () => ({
    ...(about.value === 'tool'
      ? { tool: tool.value.trim() }
      : { database: about.value, path: tool.value.trim(), operation: operation.value }),
    ...(agent.value.trim() !== '' && { agent: agent.value.trim() }),
  });
  return (
    <Card title="Why may I, or may I not?">
      <div class="write">
        <label>
          Of
          <select value={about.value} onChange={(event) => (about.value = aboutOf(event.currentTarget.value))}>
            {Object.entries(ABOUT).map(([name, { words }]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {about.value !== 'tool' && (
          <label>
            To
            <select value={operation.value} onChange={(event) => (operation.value = event.currentTarget.value)}>
              <option value="read">read</option>
              <option value="write">write</option>
              <option value="push">add to</option>
            </select>
          </label>
        )}
        <label>
          {about.value === 'tool' ? 'Tool' : 'Path'}
          <input
            placeholder={ABOUT[about.value].example}
            value={tool.value}
            onInput={(event) => (tool.value = event.currentTarget.value)}
          />
        </label>
        <label>
          As which of my agents; empty: myself
          <input value={agent.value} onInput={(event) => (agent.value = event.currentTarget.value)} />
        </label>
        <ActionButton
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
        <strong>{allowed ? 'Allowed.' : 'Refused.'}</strong> <UserText text={why} />
      </p>
      <p class="soft">
        It needs <UserText text={needs} />.
        {has !== undefined &&
          ` The role that counts is ${has.role}${has.from === undefined ? '' : `, from ${has.from}`}.`}
        {rule !== undefined && (
          <>
            {' The rule: '}
            <UserText text={rule} />.
          </>
        )}
        {change !== undefined && (
          <>
            {' '}
            It can be changed by <UserText text={change.who} />
            {change.people.length > 0 && (
              <>
                {': '}
                <UserText text={change.people.map(({ name, uid }) => name ?? uid).join(', ')} />
              </>
            )}
            .
          </>
        )}
      </p>
    </div>
  );
}
