// @ts-check
/** Finds the agent in whose name a tool is called. */

/**
 * Tools, in Claude Code's notation, whose `agent_id` is an agent of this session. The user chooses the name of the
 * server. At `/mcp` the toolset precedes the tool's name, at `/mcp/coordination` it does not.
 */
const ACTS_AS_AGENT =
  /^mcp__.+__(?:coordination[._])?(?:add_discovery|claim_task|complete_task|fail_task|heartbeat|register_agent|start_task)$/;

/**
 * Returns the id of the agent in whose name a tool is called, if there is one.
 * @param {{ tool_name?: unknown, tool_input?: unknown }} event
 * @returns {string | undefined}
 */
export function agentIn({ tool_name: tool, tool_input: input }) {
  if (typeof tool !== 'string' || !ACTS_AS_AGENT.test(tool)) return undefined;
  if (typeof input !== 'object' || input === null || !('agent_id' in input)) return undefined;
  const { agent_id: id } = input;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
