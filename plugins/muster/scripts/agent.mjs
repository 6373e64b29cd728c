// @ts-check
/** The agent that a tool call acts as. */

/**
 * Tools whose `agent_id` is an agent of this session, as Claude Code names them. `/mcp` puts the toolset before the
 * name, `/mcp/coordination` does not, and whoever connects the server names it.
 */
const ACTS_AS_AGENT =
  /^mcp__.+__(?:coordination[._])?(?:add_discovery|claim_task|complete_task|fail_task|heartbeat|register_agent|start_task)$/;

/**
 * Returns the agent of a tool call, if it acts as one.
 * @param {{ tool_name?: unknown, tool_input?: unknown }} event of a hook
 * @returns {string | undefined}
 */
export function agentIn({ tool_name: tool, tool_input: input }) {
  if (typeof tool !== 'string' || !ACTS_AS_AGENT.test(tool)) return undefined;
  if (typeof input !== 'object' || input === null || !('agent_id' in input)) return undefined;
  const { agent_id: id } = input;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
