/** Describes the configuration files of MCP clients. The comments link to each client's documentation. */
import type { Leniency } from './json.ts';

type Fields = Readonly<Record<string, unknown>>;

interface AnyClient {
  readonly title: string;
  /** Path of the configuration file, relative to the project's folder. */
  readonly path: string;
  /** Key in the file whose value contains the MCP servers. */
  readonly servers: string;
  /** Returns the user's next step. @param keyed whether the client sends MUSTER_TOKEN; if not, the user signs in */
  next(keyed: boolean): string;
}

interface JsonClient extends AnyClient {
  readonly format: Leniency;
  entry(url: string, keyed: boolean): Fields;
  /** Elements that the file's list `inputs` also needs if the client sends a credential. */
  readonly inputs?: readonly Fields[];
}

interface TomlClient extends AnyClient {
  readonly format: 'toml';
  entry(url: string, keyed: boolean): Readonly<Record<string, string>>;
}

export type ClientFile = JsonClient | TomlClient;

const ENVIRONMENT = 'Start the client with MUSTER_TOKEN set. The file contains only the name of this variable.';

export const clients: Readonly<Record<string, ClientFile>> = {
  // Source: https://code.claude.com/docs/en/mcp. Claude Code ignores a file with a comment or trailing comma.
  claude: {
    title: 'Claude Code',
    path: '.mcp.json',
    format: { comments: false, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Claude Code, type /mcp, select muster, then Authenticate.'),
  },
  // Source: https://cursor.com/docs/context/mcp
  cursor: {
    title: 'Cursor',
    path: '.cursor/mcp.json',
    format: { comments: true, trailingCommas: true },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ url, ...(keyed && headers(`\${env:MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Cursor, open Settings, MCP, muster, and click Connect.'),
  },
  // Source: https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    title: 'VS Code',
    path: '.vscode/mcp.json',
    format: { comments: true, trailingCommas: true },
    servers: 'servers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${input:muster-token}`)) }),
    inputs: [{ type: 'promptString', id: 'muster-token', description: 'Credential of a Muster agent', password: true }],
    next: (keyed) => `In VS Code, start the server, then ${keyed ? 'enter the credential' : 'sign in'}.`,
  },
  // Source: https://geminicli.com/docs/tools/mcp-server. Gemini CLI removes comments, then parses JSON.
  gemini: {
    title: 'Gemini CLI',
    path: '.gemini/settings.json',
    format: { comments: true, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ httpUrl: url, ...(keyed && headers('$MUSTER_TOKEN')) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Gemini CLI, type /mcp auth muster.'),
  },
  // Source: https://developers.openai.com/codex/mcp. `codex mcp add` writes the same entry to a user-wide file.
  codex: {
    title: 'Codex',
    path: '.codex/config.toml',
    servers: 'mcp_servers',
    format: 'toml',
    entry: (url, keyed) => ({ url, ...(keyed && { bearer_token_env_var: 'MUSTER_TOKEN' }) }),
    next: (keyed) =>
      `Codex reads the file in projects that you trust. ${keyed ? ENVIRONMENT : 'Run "codex mcp login muster".'}`,
  },
};

const headers = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
