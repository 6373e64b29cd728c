/**
 * Whether a coding agent's work is paid for by use. Under a subscription, Claude Code reports a price that no one is
 * charged. Source: docs/guides/runner.md#the-report.
 */

/** Variables that select a cloud provider for Claude Code. The provider charges by use, without an Anthropic key. */
const CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'];
const OFF = ['', '0', 'false'];

/** @param hasKey as reported by the agent; if undefined, the environment decides */
export function isPaidByUse(hasKey: boolean | undefined, env: NodeJS.ProcessEnv): boolean {
  const isSet = (name: string) => !OFF.includes(env[name] ?? '');
  return CLOUDS.some(isSet) || (hasKey ?? isSet('ANTHROPIC_API_KEY'));
}
