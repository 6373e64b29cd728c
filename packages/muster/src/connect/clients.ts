/** Where clients keep their MCP servers, each by its own documentation. */

type Fields = Readonly<Record<string, unknown>>;

export interface ClientFile {
  readonly title: string;
  /** Below the project's folder. */
  readonly path: string;
  /** Under which name the file holds its servers. */
  readonly servers: string;
  /** @param keyed whether it sends the credential of MUSTER_TOKEN; else it has its person sign in */
  entry(url: string, keyed: boolean): Fields;
  /** What else the file needs, beside the servers, where a key is sent: a list, with the key of its elements. */
  readonly inputs?: readonly Fields[];
  /** What to do next. */
  next(keyed: boolean): string;
}

const ENVIRONMENT = 'Start it with MUSTER_TOKEN in its environment: the file only names the variable.';

export const clients: Readonly<Record<string, ClientFile>> = {
  // https://code.claude.com/docs/en/mcp
  claude: {
    title: 'Claude Code',
    path: '.mcp.json',
    servers: 'mcpServers',
    entry: (url, keyed) => ({ type: 'http', url, ...(keyed && headers(`\${MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Claude Code: /mcp, choose muster, Authenticate.'),
  },
  // https://cursor.com/docs/context/mcp
  cursor: {
    title: 'Cursor',
    path: '.cursor/mcp.json',
    servers: 'mcpServers',
    entry: (url, keyed) => ({ url, ...(keyed && headers(`\${env:MUSTER_TOKEN}`)) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Cursor: Settings, MCP, muster, Connect.'),
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    title: 'VS Code',
    path: '.vscode/mcp.json',
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
  // https://geminicli.com/docs/tools/mcp-server
  gemini: {
    title: 'Gemini CLI',
    path: '.gemini/settings.json',
    servers: 'mcpServers',
    entry: (url, keyed) => ({ httpUrl: url, ...(keyed && headers('$MUSTER_TOKEN')) }),
    next: (keyed) => (keyed ? ENVIRONMENT : 'Then in Gemini CLI: /mcp auth muster.'),
  },
};

const headers = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
