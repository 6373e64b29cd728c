/** Describes the configuration files of MCP clients. The comments link to each client's documentation. */
import type { Leniency } from './json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Home folder and environment of the user. */
export interface Machine {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface AnyClient {
  readonly title: string;
  /** Path of the configuration file, relative to the project's folder. Absent if the client has no such file. */
  readonly path?: string;
  /** Path of the configuration file for all projects. Absent if Muster cannot edit that file without risk. */
  readonly userPath?: (machine: Machine) => string;
  /** Another name under which the file may exist instead, with the same ending of `path`. */
  readonly otherEnding?: string;
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
    userPath: ({ home }) => `${home}/.cursor/mcp.json`,
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
    userPath: ({ home }) => `${home}/.gemini/settings.json`,
    format: { comments: true, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ httpUrl: url, ...(keyed && headers('$MUSTER_TOKEN')) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Gemini CLI, type /mcp auth muster.'),
  },
  // Source: https://developers.openai.com/codex/mcp. `codex mcp add` writes the same entry to the user's file.
  codex: {
    title: 'Codex',
    path: '.codex/config.toml',
    userPath: ({ home, env }) => `${env['CODEX_HOME'] || `${home}/.codex`}/config.toml`,
    servers: 'mcp_servers',
    format: 'toml',
    entry: (url, keyed) => ({ url, ...(keyed && { bearer_token_env_var: 'MUSTER_TOKEN' }) }),
    next: (keyed) =>
      `Codex reads a project's file if you trust the project. ${keyed ? ENVIRONMENT : 'Run "codex mcp login muster".'}`,
  },
  // Source: `copilot mcp add --transport http` of version 1.0.102 writes this entry.
  copilot: {
    title: 'Copilot CLI',
    userPath: ({ home, env }) => `${env['COPILOT_HOME'] || `${home}/.copilot`}/mcp-config.json`,
    format: { comments: false, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${MUSTER_TOKEN}`)), tools: ['*'] }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Copilot CLI, type /mcp auth muster.'),
  },
  // Source: https://opencode.ai/docs/mcp-servers, of versions 1.x
  opencode: {
    title: 'opencode',
    path: 'opencode.json',
    otherEnding: 'jsonc',
    userPath: ({ home, env }) => `${env['XDG_CONFIG_HOME'] || `${home}/.config`}/opencode/opencode.json`,
    format: { comments: true, trailingCommas: true },
    servers: 'mcp',
    entry: (url, keyed) => ({ type: 'remote', url, enabled: true, ...(keyed && headers('{env:MUSTER_TOKEN}')) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Run "opencode mcp auth muster".'),
  },
  // Source: https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: {
    title: 'Windsurf',
    userPath: ({ home }) => `${home}/.codeium/windsurf/mcp_config.json`,
    format: { comments: false, trailingCommas: false },
    servers: 'mcpServers',
    entry: (url, keyed) => ({ serverUrl: url, ...(keyed && headers(`\${env:MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'In Windsurf, open the MCP servers of Cascade and sign in to muster.'),
  },
  // Source: https://zed.dev/docs/ai/mcp. Zed replaces no variables in this file, so the user always signs in.
  zed: {
    title: 'Zed',
    path: '.zed/settings.json',
    userPath: ({ home, env }) => `${env['XDG_CONFIG_HOME'] || `${home}/.config`}/zed/settings.json`,
    format: { comments: true, trailingCommas: true },
    servers: 'context_servers',
    entry: (url) => ({ url }),
    next: (keyed) =>
      `${keyed ? 'Zed cannot read MUSTER_TOKEN. ' : ''}In the settings of Zed's agent panel, sign in to muster.`,
  },
};

const headers = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
