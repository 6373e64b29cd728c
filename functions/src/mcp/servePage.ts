/** Answers a page of an agent's. */
import { type AgentPageName, agentPage } from './agentPages.ts';
import { type CallPorts, callTool } from './call.ts';
import type { Serving } from './exchange.ts';
import { fullName } from './names.ts';
import { refusalOf } from './refusal.ts';
import type { JsonReply } from './reply.ts';

/** @throws Refusal with the status that the error has over HTTP */
export async function serveAgentPage(
  ports: CallPorts,
  { exchange, selected }: Serving,
  name: AgentPageName,
): Promise<JsonReply> {
  const { toolset, tool, argumentsFor } = agentPage(name);
  const found = selected.findTool(fullName(toolset, tool));
  if (found === undefined) throw new Error(`The toolset ${toolset} has no tool ${tool}.`);
  const outcome = await callTool(ports, exchange, found, argumentsFor(exchange.principal));
  if ('error' in outcome) throw refusalOf(outcome.error);
  return { status: 200, json: JSON.stringify(outcome.answer) };
}
