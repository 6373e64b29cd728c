import { execute } from './execute.ts';

export type GitVersion = readonly [major: number, minor: number];

/** @returns the version of git; undefined if the output of `git --version` is unknown */
export function versionIn(printed: string): GitVersion | undefined {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

export function isBefore([major, minor]: GitVersion, [otherMajor, otherMinor]: GitVersion): boolean {
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

const versions = new Map<string | undefined, Promise<GitVersion | undefined>>();

/** Returns the version of the git on an environment's PATH, and caches it. */
export function gitVersion(env: NodeJS.ProcessEnv): Promise<GitVersion | undefined> {
  const path = env['PATH'];
  const known = versions.get(path);
  if (known !== undefined) return known;
  const asked = execute(['--version'], env).then(versionIn, () => undefined);
  versions.set(path, asked);
  return asked;
}
