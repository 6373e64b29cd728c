/** Installs and configures the real coding agents, with a separate home folder and a scripted model. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ToolCall } from '../support/scriptedModel.ts';

const CLIENTS = new URL('../../clients/node_modules', import.meta.url).pathname;

/** An unreachable proxy, so that connections to other machines fail. */
const NOWHERE = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

export function installClaude(bin: string): void {
  const program = `${CLIENTS}/.bin/claude`;
  if (!existsSync(program)) throw new Error('Claude Code is not installed: "npm test -- e2e" installs it.');
  mkdirSync(bin, { recursive: true });
  symlinkSync(program, `${bin}/claude`);
}

export function claudeEnvironment(home: string, modelUrl: string): NodeJS.ProcessEnv {
  return {
    ...NOWHERE,
    CLAUDE_CONFIG_DIR: `${home}/.claude`,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'sk-ant-no-key-of-anyone',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
  };
}

export function installGemini(bin: string): void {
  const program = `${CLIENTS}/@google/gemini-cli/bundle/gemini.js`;
  if (!existsSync(program)) throw new Error('Gemini CLI is not installed: "npm test -- e2e" installs it.');
  mkdirSync(bin, { recursive: true });
  writeFileSync(`${bin}/gemini`, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(`${bin}/gemini`, 0o755);
}

/** Writes settings with an authentication type. By default, Gemini CLI uses one that requires a person. */
export function geminiEnvironment(home: string, modelUrl: string): NodeJS.ProcessEnv {
  mkdirSync(`${home}/.gemini`, { recursive: true });
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    // With the default model "auto", Gemini CLI would first ask a model which model to use.
    model: { name: 'gemini-2.5-flash' },
  };
  writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(settings));
  return { ...NOWHERE, GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: 'AIza-no-key-of-anyone' };
}

/** Content of the file that the scripted models write. */
export const AUTH_SOURCE = 'export const login = (user) => sign({ user });\n';

export function claudeSteps(worktree: () => string): readonly (() => ToolCall)[] {
  return [
    () => ({ tool: 'Write', input: { file_path: `${worktree()}/src/auth.js`, content: AUTH_SOURCE } }),
    () => ({ tool: 'Read', input: { file_path: `${worktree()}/README.md` } }),
    () => ({
      tool: 'Edit',
      input: { file_path: `${worktree()}/README.md`, old_string: '# Example', new_string: '# Example with login' },
    }),
    () => ({ tool: 'Bash', input: { command: 'git status --short', description: 'See what changed' } }),
  ];
}
