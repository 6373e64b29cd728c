/** The activity of the workspace, which the person can narrow by who acted and by kind of item. */
import { useSignal } from '@preact/signals';
import { common } from '../../../text/common.ts';
import { needsYou as text } from '../../../text/needsYou.ts';
import { AgentSelect } from '../../parts/AgentSelect.tsx';
import { Section } from '../../parts/Notice.tsx';
import { Select } from '../../parts/Select.tsx';
import { addressOf } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { Feed } from '../audit/Feed.tsx';

const LIMIT = 30;
const KINDS = Object.entries(text.activityKinds);

export function Activity({ person, version }: { readonly person: Person; readonly version: string }) {
  const who = useSignal('');
  const kind = useSignal('');
  const isOwn = who.value === person.uid;
  return (
    <Section title={text.activity} actions={<a href={addressOf(['audit'])}>{text.openAudit}</a>}>
      <div class="filters">
        <AgentSelect
          aria-label={text.byWhom}
          value={who.value}
          options={[
            ['', text.everyone],
            [person.uid, common.you],
          ]}
          choose={(value) => (who.value = value)}
        />
        <Select aria-label={text.ofKind} value={kind.value} options={KINDS} choose={(value) => (kind.value = value)} />
      </div>
      <Feed
        asked={isOwn ? { of: 'mine' } : who.value === '' ? {} : { agent_id: who.value }}
        only={{ ...(isOwn && { by: who.value }), ...(kind.value !== '' && { toolset: kind.value }) }}
        limit={LIMIT}
        version={version}
        empty={text.noActivity}
      />
    </Section>
  );
}
