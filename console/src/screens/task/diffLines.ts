/** Lines of a unified diff. Source: https://git-scm.com/docs/diff-format#generate_patch_text_with_p */

export interface DiffLine {
  readonly kind: 'file' | 'place' | 'added' | 'removed' | 'same' | 'note';
  readonly text: string;
}

/** Lines about a file before its changes, which say less than its name. */
const NOISE = /^(index |--- |\+\+\+ |similarity |dissimilarity )/;

export function diffLines(diff: string): readonly DiffLine[] {
  let isInHead = false;
  return diff.split('\n').flatMap((text): readonly DiffLine[] => {
    if (text.startsWith('diff --git ')) {
      isInHead = true;
      const [, path = text] = / b\/(.+)$/.exec(text) ?? [];
      return [{ kind: 'file', text: path }];
    }
    if (text.startsWith('@@')) isInHead = false;
    else if (isInHead) return NOISE.test(text) || text === '' ? [] : [{ kind: 'note', text }];
    return [{ kind: KINDS[text.charAt(0)] ?? 'same', text }];
  });
}

/** Kinds of lines by their first character. */
const KINDS: Readonly<Record<string, DiffLine['kind']>> = { '@': 'place', '+': 'added', '-': 'removed', '\\': 'note' };
