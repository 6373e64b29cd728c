/**
 * Whether somebody pays for what a coding agent does by use. Claude Code names a price under a subscription too, which
 * nobody is charged. Source: docs/guides/runner.md#the-report.
 */

/** Set to have Claude Code ask a cloud, which charges by use and takes no key of Anthropic's. */
const CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'];

const OFF = ['', '0', 'false'];

/** @param hasKey as the agent says; undefined where it says nothing, and the environment has to tell */
export function isPaidByUse(hasKey: boolean | undefined, env: NodeJS.ProcessEnv): boolean {
  const isSet = (name: string) => !OFF.includes(env[name] ?? '');
  return CLOUDS.some(isSet) || (hasKey ?? isSet('ANTHROPIC_API_KEY'));
}
