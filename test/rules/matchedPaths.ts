/**
 * Returns the full path of every `match` in a rules file, below the root of the documents. Names of variables are
 * omitted: `tasks/{}/logs/{}`, or `shared/{**}` for a path of any depth.
 */
export function matchedPaths(rules: string): string[] {
  const blocks: string[] = [];
  const found: string[] = [];
  for (const line of rules.split('\n').map((text) => text.replace(/\s*\/\/.*$/, '').trim())) {
    const match = /^match (\/\S+) \{$/.exec(line);
    if (match?.[1] !== undefined) {
      blocks.push(match[1]);
      found.push(blocks.join(''));
    } else if (line.endsWith('{')) {
      blocks.push('');
    } else if (line === '}') {
      blocks.pop();
    }
  }
  const [root, ...rest] = found;
  return rest.map((path) => emptied(path.slice(`${root}/`.length)));
}

export function emptied(path: string): string {
  return path.replaceAll(/\{(\w+)(=\*\*)?\}/g, (_all, _name, deep) => (deep === undefined ? '{}' : '{**}'));
}
