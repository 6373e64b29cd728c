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
  installProgram(bin, 'claude', `${CLIENTS}/.bin/claude`);
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

export function installCodex(bin: string): void {
  installProgram(bin, 'codex', `${CLIENTS}/.bin/codex`);
}

/** Writes settings with a provider, because the built-in provider first tries a WebSocket. */
export function codexEnvironment(home: string, baseUrl: string): NodeJS.ProcessEnv {
  mkdirSync(`${home}/.codex`, { recursive: true });
  const provider = `base_url = "${baseUrl}"\nwire_api = "responses"\nrequest_max_retries = 1\nstream_max_retries = 1`;
  const settings = `model = "scripted"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\n${provider}\n`;
  writeFileSync(`${home}/.codex/config.toml`, settings);
  return NOWHERE;
}

export function installOpencode(bin: string): void {
  installProgram(bin, 'opencode', `${CLIENTS}/opencode-linux-x64/bin/opencode`);
}

export function opencodeEnvironment(home: string, baseUrl: string): NodeJS.ProcessEnv {
  mkdirSync(`${home}/.config/opencode`, { recursive: true });
  const model = { name: 'scripted', limit: { context: 100_000, output: 8000 }, cost: { input: 1, output: 2 } };
  const options = { baseURL: baseUrl, apiKey: 'no-key-of-anyone' };
  const local = { npm: '@ai-sdk/openai-compatible', name: 'local', options, models: { scripted: model } };
  const settings = { model: 'local/scripted', small_model: 'local/scripted', autoupdate: false, provider: { local } };
  writeFileSync(`${home}/.config/opencode/opencode.json`, JSON.stringify(settings));
  return { ...NOWHERE, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' };
}

function installProgram(bin: string, name: string, program: string): void {
  if (!existsSync(program)) throw new Error(`${name} is not installed: "npm test -- e2e" installs it.`);
  mkdirSync(bin, { recursive: true });
  symlinkSync(program, `${bin}/${name}`);
}
