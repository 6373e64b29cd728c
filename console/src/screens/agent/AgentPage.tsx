/** One agent: identity, held tasks, and past actions that can be undone. */
import { agentDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { agent as agentQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { DetailPage } from '../../parts/DetailPage.tsx';
import { MessageForm } from '../../parts/MessageForm.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';
import { AgentLine } from '../agents/Agents.tsx';

export function AgentPage({ id }: { readonly id: string }) {
  const live = useLive(document(agentQuery(id), agentDocument));
  return (
    <DetailPage list={['agents', 'Agents']} kind="agent" id={id} live={live}>
      {(agent) => (
        <>
          <h1>
            <UserText text={agent.name} />
          </h1>
          {agent.description !== null && (
            <p>
              <UserText text={agent.description} limit={1000} />
            </p>
          )}
          <AgentLine agent={agent} />
          <dl class="facts">
            <dt>Can do</dt>
            <dd>
              <UserText text={agent.capability_details.map(({ name }) => name).join(', ') || 'nothing that it says'} />
            </dd>
            <dt>Role</dt>
            <dd>{agent.role}, or its owner’s where that is weaker</dd>
            <dt>Registered</dt>
            <dd>
              <Ago at={agent.registered_at} />
            </dd>
          </dl>
          <p>
            <a href={addressOf(['audit'], { agent: agent.id })}>What it has done</a>, with undo.
          </p>
          <MessageForm agentId={agent.id} />
        </>
      )}
    </DetailPage>
  );
}
