/** The frameworks of other vendors that connect to MCP servers, from test/clients. Not a spec file. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Listed } from '../../support/lists.ts';

/** Loads a package of test/clients. */
export const requireClient = createRequire(new URL('../../clients/package.json', import.meta.url));

/** What a framework sends when a model calls a tool. */
export interface Sent {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A tool of OpenAI Agents. */
interface FunctionTool {
  readonly name: string;
  readonly strict: boolean;
  readonly parameters: object;
  invoke(context: object, argumentsText: string): Promise<unknown>;
}

interface Agents {
  mcpToFunctionTool(
    tool: Listed,
    server: { readonly name: string; callTool(name: string, args: Sent['args'] | null): Promise<unknown> },
    convertSchemasToStrict: boolean,
  ): FunctionTool;
  readonly RunContext: new () => object;
}

/** Returns the tool as OpenAI Agents gives it to a model in strict mode; `sent` gets what it sends. */
export function openAiAgentsTool(tool: Listed, sent: Sent[] = []) {
  const { mcpToFunctionTool, RunContext }: Agents = requireClient('@openai/agents');
  const server = {
    name: 'muster',
    callTool: async (name: string, args: Sent['args'] | null) => {
      sent.push({ name, args: args ?? {} });
      return [{ type: 'text', text: 'done' }];
    },
  };
  const { strict, parameters, invoke } = mcpToFunctionTool(tool, server, true);
  return {
    strict,
    parameters,
    call: (args: object) => invoke(new RunContext(), JSON.stringify(args)),
  };
}

/** The schema of a function as Gemini takes it. Source: https://ai.google.dev/api/caching#Schema */
export interface GeminiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly items?: GeminiSchema;
  readonly properties?: Readonly<Record<string, GeminiSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly GeminiSchema[];
}

interface GeminiFunction {
  readonly name: string;
  readonly parameters: GeminiSchema;
}

/** Returns the tool as Genkit sends it to Gemini. */
export function genkitFunction(tool: Listed): GeminiFunction {
  const folder = dirname(requireClient.resolve('@genkit-ai/google-genai'));
  const { toGeminiTool }: { toGeminiTool(tool: Listed): GeminiFunction } = requireClient(
    `${folder}/common/converters.js`,
  );
  return JSON.parse(JSON.stringify(toGeminiTool(tool)));
}

/** Returns the tool as Google's Agent Development Kit sends it to Gemini. */
export function adkFunction(tool: Listed): GeminiFunction {
  const {
    MCPTool,
  }: { MCPTool: new (tool: Listed, sessions: object) => { _getDeclaration(): GeminiFunction } } =
    requireClient('@google/adk/tools/mcp');
  return JSON.parse(JSON.stringify(new MCPTool(structuredClone(tool), {})._getDeclaration()));
}

/** A tool of LangChain, which checks arguments before it sends them. */
interface LangChainTool {
  readonly name: string;
  readonly schema: object;
  invoke(args: object): Promise<unknown>;
}

/** Returns the tools as LangChain gives them to a model; `sent` gets what they send. */
export function langChainTools(
  tools: readonly Listed[],
  sent: Sent[] = [],
): Promise<readonly LangChainTool[]> {
  const {
    loadMcpTools,
  }: { loadMcpTools(server: string, client: object): Promise<readonly LangChainTool[]> } =
    requireClient('@langchain/mcp-adapters');
  return loadMcpTools('muster', {
    listTools: async () => ({ tools }),
    callTool: async ({ name, arguments: args }: { name: string; arguments: Sent['args'] }) => {
      sent.push({ name, args });
      return { content: [{ type: 'text', text: 'done' }] };
    },
  });
}
