/** One agent: identity, held tasks, and past actions that can be undone. */
import { agentDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { agent as agentQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { Ago } from '../../parts/Status.tsx';
import { ThingPage } from '../../parts/ThingPage.tsx';
import { Words } from '../../parts/Words.tsx';
import { WriteTo } from '../../parts/WriteTo.tsx';
import { addressOf } from '../../router.ts';
import { AgentLine } from '../agents/Agents.tsx';

export function AgentPage({ id }: { readonly id: string }) {
  const live = useLive(document(agentQuery(id), agentDocument));
  return (
    <ThingPage list={['agents', 'Agents']} kind="agent" id={id} live={live}>
      {(agent) => (
        <>
          <h1>
            <Words text={agent.name} />
          </h1>
          {agent.description !== null && (
            <p>
              <Words text={agent.description} most={1000} />
            </p>
          )}
          <AgentLine agent={agent} />
          <dl class="facts">
            <dt>Can do</dt>
            <dd>
              <Words
                text={agent.capability_details.map(({ name }) => name).join(', ') || 'nothing that it says'}
              />
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
          <WriteTo agentId={agent.id} />
        </>
      )}
    </ThingPage>
  );
}
