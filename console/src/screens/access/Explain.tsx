/** Explains why a call is allowed or refused. The explanation uses the same permission table as the check. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { roles } from '../../../text/common.ts';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { callTool } from '../../calls/tools.ts';
import { AgentSelect } from '../../parts/AgentSelect.tsx';
import { ActionButton } from '../../parts/acting.tsx';
import { Field } from '../../parts/Field.tsx';
import { Section } from '../../parts/Notice.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { ownUid } from '../../session/session.ts';

const explanation = z.object({
  allowed: z.boolean(),
  needs: z.string(),
  has: z.exactOptional(z.object({ role: z.string(), from: z.exactOptional(z.string()) })),
  why: z.string(),
  waits: z._default(z.array(z.object({ why: z.string(), remedy: z.string() })), []),
  rule: z.exactOptional(z.string()),
  changeable_by: z.exactOptional(
    z.object({ who: z.string(), people: z.array(z.object({ uid: z.string(), name: z.exactOptional(z.string()) })) }),
  ),
});
type Explanation = z.output<typeof explanation>;

const SUBJECTS = Object.entries(text.subjects);
const OPERATIONS = [
  ['read', text.read],
  ['write', text.write],
  ['push', text.push],
] as const;

export function Explain() {
  const about = useSignal('tool');
  const name = useSignal('');
  const operation = useSignal('read');
  const agent = useSignal('');
  const answer = useSignal<Explanation | undefined>(undefined);
  const uid = ownUid() ?? '';
  const isTool = about.value === 'tool';
  const asked = () => ({
    ...(isTool
      ? { tool: name.value.trim() }
      : { database: about.value, path: name.value.trim(), operation: operation.value }),
    ...(agent.value !== '' && { agent: agent.value }),
  });
  return (
    <Section title={text.check} isCard>
      <div class="pad stack">
        <p class="hint">{text.checkHint}</p>
        <div class="check-access">
          <SelectField label={text.about} of={about} options={SUBJECTS} />
          <TextField label={isTool ? text.toolName : text.path} placeholder={text.examples[about.value]} of={name} />
          {!isTool && <SelectField label={text.action} of={operation} options={OPERATIONS} />}
          <Field label={text.as}>
            {(field) => (
              <AgentSelect
                {...field}
                value={agent.value}
                options={[['', text.me]]}
                keep={({ owner_uid }) => owner_uid === uid}
                choose={(value) => (agent.value = value)}
              />
            )}
          </Field>
          <ActionButton
            label={text.checkIt}
            disabled={name.value.trim() === ''}
            act={async () => {
              answer.value = undefined;
              answer.value = await callTool('access.explain', asked(), explanation);
            }}
          />
        </div>
        {answer.value !== undefined && <Verdict of={answer.value} />}
      </div>
    </Section>
  );
}

function Verdict({
  of: { allowed, needs, has, why, waits, rule, changeable_by: change },
}: {
  readonly of: Explanation;
}) {
  const people = change?.people.map(({ name, uid }) => name ?? uid).join(', ') ?? '';
  return (
    <div class={`notice ${allowed ? '' : 'bad'}`} role="status">
      <Icon of={allowed ? 'check' : 'lock'} />
      <div>
        <p>
          <b>{allowed ? text.allowed : text.refused}</b> <UserText text={why} />
        </p>
        {waits.map((one) => (
          <p key={one.why}>
            <UserText text={`${one.why} ${one.remedy}`} />
          </p>
        ))}
        <p class="soft">
          {fill(text.needs, { needs })}
          {has !== undefined &&
            ` ${fill(text.has, { role: (roles[has.role] ?? has.role).toLowerCase(), from: has.from ?? '–' })}`}
          {change !== undefined && ` ${people === '' ? change.who : fill(text.canChange, { names: people })}`}
        </p>
        {rule !== undefined && (
          <p class="soft">
            {`${text.rule}: `}
            <code>
              <UserText text={rule} />
            </code>
          </p>
        )}
      </div>
    </div>
  );
}
