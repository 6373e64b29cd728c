/** Options of a choice among the agents of the workspace. */
import { common } from '../../text/common.ts';
import { fill, number } from '../../ui/format.ts';
import { type Agent, agentDocument } from '../live/documents.ts';
import { usePaged } from '../live/paged.ts';
import { agentsOf } from '../live/queries.ts';
import { rowsOf } from '../live/states.ts';
import { workspace } from '../router.ts';

/** Agents in a choice, because a longer menu is of no use. */
const MAX_AGENTS = 1000;

interface AgentOptionsProps {
  /** Id that is listed in any case, because it is chosen. */
  readonly chosen?: string | undefined;
  keep?(agent: Agent): boolean;
}

export function AgentOptions({ chosen = '', keep = () => true }: AgentOptionsProps) {
  const agents = usePaged(agentsOf(workspace.value, MAX_AGENTS), agentDocument);
  const rows = rowsOf(agents).filter(keep);
  return (
    <>
      {chosen !== '' && rows.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {rows.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {agents.more !== undefined && <option disabled>{fill(common.latestAgents, { n: number(MAX_AGENTS) })}</option>}
    </>
  );
}
