/** Lists of repositories, as workspaces and the deployment have them: `owner/name`, or `owner/*` for all of an owner's. */

/** @param name `owner/name`, or `owner/*` for whether all of theirs are; GitHub's names are the same in capitals */
export function isListed(listed: readonly string[], name: string): boolean {
  const [owner = ''] = name.split('/');
  const wanted = [name, `${owner}/*`].map((one) => one.toLowerCase());
  return listed.some((one) => wanted.includes(one.toLowerCase()));
}
