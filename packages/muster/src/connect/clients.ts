/** Where clients keep their MCP servers, each by its own documentation. */

import type { Leniency } from './json.ts';

type Fields = Readonly<Record<string, unknown>>;

interface AnyClient {
  readonly title: string;
  /** Below the project's folder. */
  readonly path: string;
  /** Under which name the file holds its servers. */
  readonly servers: string;
  /** What to do next. @param keyed whether it sends the credential of MUSTER_TOKEN; else its person signs in */
  next(keyed: boolean): string;
}

interface JsonClient extends AnyClient {
  readonly format: Leniency;
  entry(url: string, keyed: boolean): Fields;
  /** What else the file needs, beside the servers, where a key is sent: a list, with the key of its elements. */
  readonly inputs?: readonly Fields[];
}

interface TomlClient extends AnyClient {
  readonly format: 'toml';
  entry(url: string, keyed: boolean): Readonly<Record<string, string>>;
}

export type ClientFile = JsonClient | TomlClient;

const ENVIRONMENT = 'Start it with MUSTER_TOKEN in its environment: the file only names the variable.';

export const clients: Readonly<Record<string, ClientFile>> = {
  // https://code.claude.com/docs/en/mcp; it ignores the file if it has a comment or a trailing comma.
  claude: {
    title: 'Claude Code',
    path: '.mcp.json',
    format: { comments: false, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Claude Code: /mcp, choose muster, Authenticate.'),
  },
  // https://cursor.com/docs/context/mcp
  cursor: {
    title: 'Cursor',
    path: '.cursor/mcp.json',
    format: { comments: true, trailingCommas: true },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ url, ...(keyed && headers(`\${env:MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Cursor: Settings, MCP, muster, Connect.'),
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    title: 'VS Code',
    path: '.vscode/mcp.json',
    format: { comments: true, trailingCommas: true },
    servers: 'servers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${input:muster-token}`)) }),
    inputs: [
      {
        type: 'promptString',
        id: 'muster-token',
        description: 'Credential of a Muster agent',
        password: true,
      },
    ],
    next: (keyed) =>
      `Then in VS Code: start the server; it ${keyed ? 'asks for the credential' : 'has you sign in'}.`,
  },
  // https://geminicli.com/docs/tools/mcp-server; it removes comments before it reads the file as JSON.
  gemini: {
    title: 'Gemini CLI',
    path: '.gemini/settings.json',
    format: { comments: true, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ httpUrl: url, ...(keyed && headers('$MUSTER_TOKEN')) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Gemini CLI: /mcp auth muster.'),
  },
  // https://developers.openai.com/codex/mcp; the entry is that of `codex mcp add`, which writes the file in the home folder.
  codex: {
    title: 'Codex',
    path: '.codex/config.toml',
    servers: 'mcp_servers',
    format: 'toml',
    entry: (url, keyed) => ({ url, ...(keyed && { bearer_token_env_var: 'MUSTER_TOKEN' }) }),
    next: (keyed) =>
      `Codex reads it in a project that you trust. ${keyed ? ENVIRONMENT : 'Then: codex mcp login muster.'}`,
  },
};

const headers = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
