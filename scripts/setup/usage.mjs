// @ts-check
/** Usage texts and arguments of commands. This file needs no installed package, and an old Node can load it. */
import util from 'node:util';

/**
 * Ends the process with the usage if --help is set.
 * @param {string} usage
 * @param {readonly string[]} [args]
 */
export function showUsageIfAsked(usage, args = process.argv.slice(2)) {
  if (!args.includes('--help') && !args.includes('-h')) return;
  process.stdout.write(`${usage.trimEnd()}\n`);
  process.exit(0);
}

/**
 * Parses the arguments of this process. Ends the process with the usage if --help is set or an argument is wrong.
 * @template {import('node:util').ParseArgsConfig} Config
 * @param {string} usage
 * @param {Config} config
 * @returns {ReturnType<typeof util.parseArgs<Config>>}
 */
export function parsedOrUsage(usage, config) {
  showUsageIfAsked(usage);
  try {
    return util.parseArgs(config);
  } catch (error) {
    return wrongUsage(usage, error instanceof Error ? error.message : String(error));
  }
}

/**
 * Ends the process.
 * @param {string} usage @param {string} why
 * @returns {never}
 */
export function wrongUsage(usage, why) {
  process.stderr.write(`${why}\n\n${usage.trimEnd()}\n`);
  return process.exit(1);
}
