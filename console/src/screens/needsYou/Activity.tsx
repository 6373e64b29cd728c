/** The activity of the workspace, which the person can narrow by who acted and by kind of item. */
import { useSignal } from '@preact/signals';
import { common } from '../../../text/common.ts';
import { needsYou as text } from '../../../text/needsYou.ts';
import { AgentOptions } from '../../parts/AgentOptions.tsx';
import { Section } from '../../parts/Notice.tsx';
import { addressOf } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { Feed } from '../audit/Feed.tsx';

const LIMIT = 30;
const KINDS = ['', 'coordination', 'coding', 'inbox', 'todo', 'orchestration', 'access'] as const;

export function Activity({ person, version }: { readonly person: Person; readonly version: string }) {
  const who = useSignal('');
  const kind = useSignal<string>('');
  return (
    <Section title={text.activity} actions={<a href={addressOf(['audit'])}>{text.openAudit}</a>}>
      <div class="filters">
        <select
          class="input short"
          aria-label={text.byWhom}
          value={who.value}
          onChange={(event) => (who.value = event.currentTarget.value)}>
          <option value="">{text.everyone}</option>
          <option value={person.uid}>{common.you}</option>
          <AgentOptions />
        </select>
        <select
          class="input short"
          aria-label={text.ofKind}
          value={kind.value}
          onChange={(event) => (kind.value = event.currentTarget.value)}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {text.activityKinds[one]}
            </option>
          ))}
        </select>
      </div>
      <Feed
        asked={who.value === '' || who.value === person.uid ? {} : { agent_id: who.value }}
        limit={LIMIT}
        version={version}
        empty={text.noActivity}
        isShown={({ by, tool }) =>
          (who.value !== person.uid || by === person.uid) && (kind.value === '' || tool.startsWith(`${kind.value}.`))
        }
      />
    </Section>
  );
}
