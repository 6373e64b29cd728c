// @ts-check
import MarkdownIt from 'markdown-it';
import ts from 'typescript';

/**
 * @typedef {'C' | 'D' | 'S' | 'T'} Kind - comment, paragraph of a document, string literal or test title
 * @typedef {{ kind: Kind, text: string, line: number }} Passage - text as one line, and the number of its first line
 */

const TITLED = new Set(['describe', 'it', 'context', 'specify']);
const DIRECTIVE = /^(?:biome-ignore|@ts-|eslint|prettier|cspell:|\/ <|!|#)/;

/**
 * Returns the prose of a TypeScript or JavaScript file: comments, test titles and, outside tests, string literals.
 * @param {string} path
 * @param {string} source
 * @param {{ isTest: boolean }} options
 * @returns {Passage[]}
 */
export function proseOfCode(path, source, { isTest }) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, scriptKind(path));
  const lineAt = (/** @type {number} */ position) => file.getLineAndCharacterOfPosition(position).line + 1;
  /** @type {Passage[]} */
  const passages = commentsOf(file, source).flatMap(({ text, position }) =>
    paragraphsOfComment(text).map((paragraph) => ({
      kind: /** @type {const} */ ('C'),
      text: paragraph.text,
      line: lineAt(position) + paragraph.line,
    })),
  );
  const add = (/** @type {Kind} */ kind, /** @type {ts.Node} */ node, /** @type {string} */ text) => {
    if (isProse(node, text)) passages.push({ kind, text: oneLine(text), line: lineAt(node.getStart()) });
  };
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isCallExpression(node) && isTitled(node.expression)) visitTest(node);
    else if (isTest || !visitText(node)) ts.forEachChild(node, visit);
  };
  const visitTest = (/** @type {ts.CallExpression} */ { arguments: [title, ...others] }) => {
    const text = title && textOf(title);
    if (title && text) add('T', title, text);
    others.forEach(visit);
  };
  const visitText = (/** @type {ts.Node} */ node) => {
    const text = ts.isJsxText(node) ? node.text : textOf(node);
    if (text === undefined) return false;
    add('S', node, text);
    expressionsIn(node).forEach(visit);
    return true;
  };
  visit(file);
  return passages;
}

/** Returns whether a text is prose: several words, one capitalized word, or any text of a page (JSX). */
function isProse(/** @type {ts.Node} */ node, /** @type {string} */ text) {
  return /\S\s+\S|^[A-Z][a-z]+$/.test(text) || (ts.isJsxText(node) && text.trim() !== '');
}

/** @param {string} path */
function scriptKind(path) {
  if (path.endsWith('.json')) return ts.ScriptKind.JSON;
  if (path.endsWith('x')) return ts.ScriptKind.TSX;
  return path.endsWith('ts') ? ts.ScriptKind.TS : ts.ScriptKind.JS;
}

/** @param {ts.Expression} called */
function isTitled(called) {
  const name = ts.isPropertyAccessExpression(called) ? called.expression : called;
  return ts.isIdentifier(name) && TITLED.has(name.text);
}

/**
 * Returns the text of a string literal, a template or a concatenation of these, with `x` for each expression.
 * @param {ts.Node} node
 * @returns {string | undefined}
 */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => `\`x\`${span.literal.text}`).join('');
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    if (left === undefined && right === undefined) return undefined;
    return (left ?? '`x`') + (right ?? '`x`');
  }
  return undefined;
}

/** @param {ts.Node} node @returns {ts.Node[]} the expressions in a text for which `textOf` writes `x` */
function expressionsIn(node) {
  if (ts.isTemplateExpression(node)) return node.templateSpans.map((span) => span.expression);
  if (!ts.isBinaryExpression(node)) return [];
  return [node.left, node.right].flatMap((side) => (textOf(side) === undefined ? [side] : expressionsIn(side)));
}

/**
 * Returns the comments of a file. Adjacent line comments count as one comment.
 * @param {ts.SourceFile} file
 * @param {string} source
 */
function commentsOf(file, source) {
  /** @type {Map<number, ts.CommentRange>} */
  const ranges = new Map();
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isJSDoc(node) || ts.isJsxText(node)) return;
    const children = node.getChildren(file);
    if (children.length === 0) {
      const start = node.getFullStart();
      for (const range of [
        ...(ts.getLeadingCommentRanges(source, start) ?? []),
        ...(ts.getTrailingCommentRanges(source, start) ?? []),
      ])
        ranges.set(range.pos, range);
    }
    children.forEach(visit);
  };
  visit(file);
  /** @type {{ text: string, position: number, end: number, isLine: boolean }[]} */
  const comments = [];
  for (const { pos, end, kind } of [...ranges.values()].sort((one, other) => one.pos - other.pos)) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const text = isLine ? source.slice(pos + 2, end) : source.slice(pos + 2, end - 2);
    const previous = comments.at(-1);
    if (isLine && previous?.isLine && /^\s*$/.test(source.slice(previous.end, pos)) && startsLine(source, pos)) {
      previous.text += `\n${text}`;
      previous.end = end;
    } else {
      comments.push({ text, position: pos, end, isLine });
    }
  }
  return comments;
}

/** @param {string} source @param {number} position */
function startsLine(source, position) {
  return /^\s*$/.test(source.slice(source.lastIndexOf('\n', position - 1) + 1, position));
}

/**
 * Splits a comment into paragraphs at blank lines and tags. Omits each tag with its type and its parameter's name.
 * @param {string} comment
 * @returns {{ text: string, line: number }[]} `line` is 0 for the first line of the comment
 */
function paragraphsOfComment(comment) {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  /** @type {{ text: string, line: number }[]} */
  const paragraphs = [];
  let starts = true;
  let skips = false;
  for (const [line, text] of lines.entries()) {
    const words = text.trim();
    if (words.startsWith('```')) skips = !skips;
    if (words === '' || words.startsWith('```') || skips || DIRECTIVE.test(words)) {
      starts = true;
      continue;
    }
    const tag = words.match(/^@\w+\s*(?:\{(?:[^{}]|\{[^{}]*\})*\}+\s*)?(.*)$/);
    const last = paragraphs.at(-1);
    if (starts || tag || !last) {
      paragraphs.push({ text: tag ? (tag[1] ?? '').replace(/^[\w.[\]]+ - /, '') : words, line });
      starts = false;
    } else {
      last.text += ` ${words}`;
    }
  }
  return paragraphs.map(({ text, line }) => ({ text: oneLine(text), line }));
}

const markdown = new MarkdownIt();

/**
 * Returns the headings, paragraphs and table cells of a Markdown document, without code and link targets.
 * @param {string} source
 * @returns {Passage[]}
 */
export function proseOfMarkdown(source) {
  /** @type {Passage[]} */
  const passages = [];
  let line = 1;
  for (const { type, children, map } of markdown.parse(source, {})) {
    if (map) line = map[0] + 1; // A table cell has no line number, so it gets the line of its row.
    if (type !== 'inline') continue;
    passages.push({ kind: 'D', text: oneLine((children ?? []).map(inlineText).join('')), line });
  }
  return passages;
}

/** @param {{ type: string, content: string }} token */
function inlineText({ type, content }) {
  if (type === 'code_inline') return '`x`';
  return type === 'softbreak' ? ' ' : content;
}

/**
 * Returns the comments of a shell, YAML, Python or security rules file, in which `mark` starts a comment.
 * @param {string} source
 * @param {'#' | '//'} mark
 * @returns {Passage[]}
 */
export function commentsAfter(source, mark) {
  /** @type {Passage[]} */
  const passages = [];
  const pattern = mark === '#' ? /(?:^|\s)#(?!!)\s?(.*)$/ : /(?:^|\s)\/\/\s?(.*)$/;
  let followed = false;
  for (const [index, line] of source.split('\n').entries()) {
    const text = line.match(pattern)?.[1];
    if (text === undefined) {
      followed = false;
      continue;
    }
    const last = passages.at(-1);
    if (followed && last && /^\s*(?:#|\/\/)/.test(line)) last.text += ` ${oneLine(text)}`;
    else passages.push({ kind: 'C', text: oneLine(text), line: index + 1 });
    followed = true;
  }
  return passages;
}

/** @param {string} text @returns {string} the text with `x` for each code span, and single spaces */
function oneLine(text) {
  return text
    .replace(/``[^`]+``|`[^`]*`/g, '`x`')
    .replace(/\s+/g, ' ')
    .trim();
}
