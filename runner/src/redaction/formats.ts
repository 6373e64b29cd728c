/** Recognizes secrets by their format, regardless of the environment's variables. */
import { VENDOR_RULES, type VendorRule } from './gitleaks.ts';
import { REDACTED } from './placeholder.ts';
import { hasOnlyWords, looksRandom } from './words.ts';

export interface Format {
  readonly id: string;
  /** Keywords in lower case. A text that contains none of them contains no secret of this format. */
  readonly keywords: readonly string[];
  /** Group 1 is kept, and group 2 is the secret. A match starts at a keyword or, with the flag `g`, anywhere. */
  readonly pattern: RegExp;
  /** Returns whether a match is a secret. By default, a match is a secret if it does not consist of words. */
  readonly accepts?: (secret: string) => boolean;
}

/** Start of a secret: after an escape, an encoded byte, a color, or a character except letters and digits. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[abefnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\u001b\[[0-9;?]{0,16}[A-Za-z])`;
const END = '(?![A-Za-z0-9])';

/** Minimum length of a secret value, in characters. Shorter values are placeholders and flags. */
const MIN_VALUE_LENGTH = 8;

/** Values that are not secrets: variables, placeholders and masks. */
const PLACEHOLDER = /^(?:[$*<{[]|x{3,}|\.{3})/i;

const isValue = (secret: string): boolean =>
  secret.length >= MIN_VALUE_LENGTH && !PLACEHOLDER.test(secret) && !hasOnlyWords(secret);

/** Rule for a token that is recognized without its surrounding text. */
export interface Rule extends VendorRule {
  readonly accepts?: (secret: string) => boolean;
}

/** Tokens with a vendor's prefix for which gitleaks has no rule, or only a rule for an older length. */
export const TOKENS: readonly Rule[] = [
  { id: 'muster', keywords: ['mk_'], pattern: /mk_[A-Za-z0-9]{16,}(?:\.[A-Za-z0-9_-]+)?/ },
  // Installation tokens are ghs_<app id>_<JWT>. Source: docs.github.com, "Generating an installation access token".
  {
    id: 'github',
    keywords: ['gh', 'github_pat_'],
    pattern: /(?:gh[pousr]_[A-Za-z0-9_.-]{19,}[A-Za-z0-9_-]|github_pat_[A-Za-z0-9_]{20,})/,
  },
  {
    id: 'sk',
    keywords: ['sk-'],
    pattern: /sk-[A-Za-z0-9_-]{20,}/,
    accepts: (secret) => looksRandom(secret) || (/[A-Za-z0-9]{20}/.test(secret) && !hasOnlyWords(secret)),
  },
  { id: 'google-api-key', keywords: ['aiza'], pattern: /AIza[A-Za-z0-9_-]{30,}/ },
  { id: 'google-auth-key', keywords: ['aq.'], pattern: /AQ\.[A-Za-z0-9_-]{30,}/ },
  { id: 'google-oauth', keywords: ['ya29.'], pattern: /ya29\.[A-Za-z0-9_.-]{20,}/ },
  { id: 'google-client-secret', keywords: ['gocspx-'], pattern: /GOCSPX-[A-Za-z0-9_-]{20,}/ },
  { id: 'google-refresh-token', keywords: ['1//0'], pattern: /1\/\/0[A-Za-z0-9_-]{30,}/ },
  { id: 'hugging-face', keywords: ['hf_'], pattern: /hf_[A-Za-z0-9]{30,}/ },
  { id: 'slack', keywords: ['xox'], pattern: /xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}/ },
  { id: 'npm', keywords: ['npm_'], pattern: /npm_[A-Za-z0-9]{30,}/ },
  {
    id: 'gitlab',
    keywords: ['gl'],
    pattern: /gl(?:pat|dt|cbt|ft|ptt|rt|rtr|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.-]{19,}[A-Za-z0-9_-]/,
  },
  { id: 'stripe-webhook', keywords: ['whsec_'], pattern: /whsec_[A-Za-z0-9+/]{24,}={0,2}/ },
  { id: 'vault', keywords: ['hvs.', 'hvb.', 'hvr.'], pattern: /hv[sbr]\.[A-Za-z0-9_-]{24,}/ },
  { id: 'xai', keywords: ['xai-'], pattern: /xai-[A-Za-z0-9]{40,}/ },
  { id: 'groq', keywords: ['gsk_'], pattern: /gsk_[A-Za-z0-9]{40,}/ },
  { id: 'replicate', keywords: ['r8_'], pattern: /r8_[A-Za-z0-9]{30,}/ },
  { id: 'docker', keywords: ['dckr_'], pattern: /dckr_[a-z]{3}_[A-Za-z0-9_-]{20,}/ },
  { id: 'square', keywords: ['sq0'], pattern: /sq0[a-z]{3}-[A-Za-z0-9_-]{22,}/ },
  { id: 'supabase', keywords: ['sbp_', 'sb_secret_'], pattern: /(?:sbp|sb_secret)_[A-Za-z0-9_-]{20,}/ },
  { id: 'langsmith', keywords: ['lsv2_'], pattern: /lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}/ },
  { id: 'telegram', keywords: [':aa'], pattern: /\d{8,10}:AA[A-Za-z0-9_-]{32,}/, anywhere: true },
];

/** Formats of secrets that are recognized by the surrounding text. */
const CONTEXTS: readonly Format[] = [
  {
    id: 'authorization',
    keywords: ['authorization'],
    pattern: /(authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|digest)\s{1,4})([^\s"',;\\]{8,})/iy,
    accepts: (secret) => !PLACEHOLDER.test(secret),
  },
  {
    id: 'authorization-token',
    keywords: ['authorization'],
    pattern: /(authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:token\s{1,4})?)([A-Za-z0-9._~+/=-]{16,})/iy,
    accepts: looksRandom,
  },
  {
    id: 'bearer',
    keywords: ['bearer', 'basic'],
    pattern: /(\b(?:bearer|basic)\s{1,4})([A-Za-z0-9._~+/-]{12,}={0,2})/iy,
  },
  {
    id: 'url-password',
    keywords: ['://'],
    pattern: /(:\/\/[^\s/:@"'<>]{0,256}:)([^\s/?#"'<>]{1,512})(?=@)/iy,
    accepts: (secret) => !PLACEHOLDER.test(secret),
  },
  { id: 'url-user', keywords: ['://'], pattern: /(:\/\/)([A-Za-z0-9_.~%-]{20,256})(?=@)/iy },
  {
    id: 'url-parameter',
    keywords: ['='],
    pattern:
      /([?&](?:(?:access|auth|refresh|id|session|security)[_-]?)?(?:x-amz-(?:signature|security-token)|x-goog-signature|token|api[_-]?key|key|sig|signature|secret|client[_-]secret|password|passwd)=)([A-Za-z0-9%][A-Za-z0-9._~%+/=-]{7,})/gi,
    accepts: isValue,
  },
  {
    id: 'connection-string',
    keywords: ['key=', 'password=', 'pwd='],
    pattern: /((?:accountkey|sharedaccesskey|sharedsecretkey|;\s{0,4}password|;\s{0,4}pwd)=)([^\s;"'\\]{8,})/gi,
    accepts: isValue,
  },
  {
    id: 'aws-secret-key',
    keywords: ['access_key', 'accesskey', 'session_token', 'sessiontoken'],
    pattern: /((?:secret_?access_?key|session_?token)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)([A-Za-z0-9/+]{16,}={0,2})/gi,
    accepts: isValue,
  },
  {
    id: 'webhook',
    keywords: ['hooks.slack.com', '/api/webhooks/'],
    pattern: /(hooks\.slack\.com\/[a-z]{1,20}\/|\/api\/webhooks\/\d{1,30}\/)([A-Za-z0-9+/_-]{30,})/g,
  },
  {
    // A token can contain a JWT, as GitHub's tokens do. Each run of token characters is scanned only from its start.
    id: 'jwt',
    keywords: ['eyj'],
    pattern: /((?<![A-Za-z0-9_-]))([A-Za-z0-9_-]{13,}(?:\.[A-Za-z0-9_-]*){2,})/g,
    accepts: (secret) => /eyJ[A-Za-z0-9_-]{10,}\./.test(secret),
  },
];

/** All formats. General formats come first, because a vendor's rule might match only a part of a general token. */
export const FORMATS: readonly Format[] = [...TOKENS.map(formatOf), ...CONTEXTS, ...VENDOR_RULES.map(formatOf)];

/** Returns a text without secrets of known formats. */
export function withoutFormats(text: string): string {
  let rest = text;
  let lower = lowerCase(text);
  for (const format of FORMATS)
    for (const keyword of format.keywords) {
      if (!lower.includes(keyword)) continue;
      const safe = format.pattern.sticky ? withoutAt(rest, lower, keyword, format) : without(rest, format);
      if (safe !== rest) lower = lowerCase(safe);
      rest = safe;
    }
  return rest;
}

function without(text: string, { pattern, accepts = isNotWords }: Format): string {
  return text.replace(pattern, (match: string, before: string, secret: string) =>
    accepts(secret) ? `${before}${REDACTED}` : match,
  );
}

/** Searches only near the keyword, because matching a hundred patterns at every character is slow. */
function withoutAt(text: string, lower: string, keyword: string, { pattern, accepts = isNotWords }: Format): string {
  const kept: string[] = [];
  let keptTo = 0;
  for (let at = lower.indexOf(keyword), next = 0; at >= 0; at = lower.indexOf(keyword, next)) {
    pattern.lastIndex = at;
    const [match, before = '', secret = ''] = pattern.exec(text) ?? [];
    next = at + (match?.length || 1);
    if (match === undefined || !accepts(secret)) continue;
    kept.push(text.slice(keptTo, at), before, REDACTED);
    keptTo = next;
  }
  return `${kept.join('')}${text.slice(keptTo)}`;
}

/** Returns the text in lower case, with every character at its position. U+0130 becomes "I", not two characters. */
function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'I').toLowerCase();
}

function isNotWords(secret: string): boolean {
  return !hasOnlyWords(secret);
}

function formatOf({ id, keywords, pattern: { source, flags }, anywhere, accepts = isNotWords }: Rule): Format {
  const pattern = new RegExp(`(${START})(${source})${END}`, `${flags}${anywhere ? 'g' : 'y'}`);
  return { id, keywords, pattern, accepts };
}
