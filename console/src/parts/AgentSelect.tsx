/** Choice of one of the workspace's agents. */
import { useSignal } from '@preact/signals';
import { common } from '../../text/common.ts';
import { fill, number } from '../../ui/format.ts';
import { type Agent, agentDocument } from '../live/documents.ts';
import { usePaged } from '../live/paged.ts';
import { agentsOf } from '../live/queries.ts';
import { rowsOf } from '../live/states.ts';
import { workspace } from '../router.ts';
import { Select, type SelectProps } from './Select.tsx';

/** Agents in a choice, because a longer menu is of no use. They are loaded when the choice is first used. */
const MAX_AGENTS = 1000;

interface AgentSelectProps extends Omit<SelectProps, 'more'> {
  keep?(agent: Agent): boolean;
}

/** @param props options before the agents, such as one for all agents */
export function AgentSelect({ options, keep = () => true, ...props }: AgentSelectProps) {
  const isUsed = useSignal(false);
  const agents = usePaged(agentsOf(workspace.value, isUsed.value ? MAX_AGENTS : undefined), agentDocument);
  const all = [
    ...options,
    ...rowsOf(agents)
      .filter(keep)
      .map(({ id, name }) => [id, name] as const),
  ];
  const isListed = all.some(([value]) => value === props.value);
  return (
    <Select
      {...props}
      options={isListed ? all : [...all, [props.value, props.value]]}
      more={isUsed.value && agents.more !== undefined && fill(common.latestAgents, { n: number(MAX_AGENTS) })}
      onFocus={() => (isUsed.value = true)}
    />
  );
}
