// @ts-check
/**
 * Expressions that this repository does not use, and what to write instead (docs/style.md).
 * `kinds` lists the texts that an expression applies to: C comments, D documents, S string literals, T test titles.
 * @type {{ id: string, kinds: string, pattern: RegExp, instead: string }[]}
 */
export const EXPRESSIONS = [
  {
    id: 'L01',
    kinds: 'CDST',
    pattern:
      /\b[Ww]here there (?:is|was|are|were)\b|\b[Ww]here (?:nobody|somebody|none|nothing|something) [a-z]+s?\b|\b[Ww]here (?:it|they|you|one|that) (?:has|have|had|can|cannot|may|must|does|do|lacks?)\b/,
    instead: '`where` as a condition: write if / when / unless',
  },
  {
    id: 'L02',
    kinds: 'CDST',
    pattern: /\b[Ww](?:ho|hom|hose|hat|hich)ever\b/,
    instead: 'name the actor or thing: the caller, the owner, any …',
  },
  {
    id: 'L03',
    kinds: 'CDST',
    pattern: /\b(?:[Ss]ome|[Nn]o|[Ee]very|[Aa]ny)body\b/,
    instead: 'caller, another agent, another instance, no one, everyone with access',
  },
  {
    id: 'L04',
    kinds: 'CDST',
    pattern: /\b(?:go|goes|went|gone|going) on\b/,
    instead: 'continue / proceed / resume / in progress',
  },
  {
    id: 'L05',
    kinds: 'CDST',
    pattern: /\b[Bb]eside\b/,
    instead: 'next to (place), alongside (time), besides / in addition to (sum)',
  },
  {
    id: 'L06',
    kinds: 'CDST',
    pattern: /\btells\b|\btell of\b/,
    instead: 'returns / reports / shows / notifies / distinguishes',
  },
  {
    id: 'L07',
    kinds: 'CDST',
    pattern: /\b(?:is|are|was|were|be|been|being) told\b/,
    instead: 'is notified / receives / gets the error …',
  },
  {
    id: 'L08',
    kinds: 'CDST',
    pattern: /\b(?:take|takes|took|taken|taking) (?!care)(?:\w+ ){0,3}back\b/,
    instead: 'undo / revert (a change), withdraw (a request), release (a task)',
  },
  {
    id: 'L09',
    kinds: 'CDST',
    pattern: /\b(?:step|steps|stepped|stepping|pass|passes|passed|passing) over\b/,
    instead: 'skip',
  },
  { id: 'L10', kinds: 'CDST', pattern: /\bby (?:itself|themselves)\b/, instead: 'automatically / on its own' },
  {
    id: 'L11',
    kinds: 'CDST',
    pattern: /\b(?:for ever|anew|longest ago)\b/,
    instead: 'forever or indefinitely / again / oldest',
  },
  {
    id: 'L12',
    kinds: 'CDST',
    pattern: /\bof (?:its|their|your|my|our|one's) own\b/,
    instead: 'its own X / a dedicated X / separate',
  },
  {
    id: 'L13',
    kinds: 'CDST',
    pattern: /\b(?:not|nothing|none|never|no|nobody|cannot)\b[^.;]{0,60}\bany more\b|\bis no more\b(?! than)/,
    instead: 'no longer',
  },
  {
    id: 'L14',
    kinds: 'CDST',
    pattern:
      /\bwhat(?:ever)? (?:came|comes|becomes|became|has become|has come) of\b|\bhow (?:it|they|that|calls) (?:goes|went|go)\b|\bhow far (?:it|they|that) (?:is|are|has|have)\b/,
    instead: 'result / outcome / progress / status',
  },
  {
    id: 'L15',
    kinds: 'CDST',
    pattern:
      /(?<!here )\b(?:is|are|was|were) (?:no (?!longer\b|more\b|less\b|fewer\b|doubt\b|other\b|one\b|[a-z]+er than\b)[a-z]+|none (?:of|at)\b)/,
    instead: 'is not a … / is not one of',
  },
  {
    id: 'L16',
    kinds: 'CDST',
    pattern: /\b[Tt]here (?:is|was|are|were) (?:no such|none)\b/,
    instead: 'not found / unknown X / does not exist',
  },
  {
    id: 'L17',
    kinds: 'CDST',
    pattern: /\bthat there (?:is|are|was|were)\b/,
    instead: 'existing / available, or drop the clause',
  },
  {
    id: 'L18',
    kinds: 'CDST',
    pattern: /\b(?:stands?|stood|standing) (?:in|at|there|on|under|above|below|between|before|beside)\b(?! for\b)/,
    instead: 'is in / is listed in / sits between / blocks',
  },
  { id: 'L19', kinds: 'CDST', pattern: /\bas (?:it|they) (?:was|were)\b/, instead: 'unchanged / restored / verbatim' },
  {
    id: 'L20',
    kinds: 'CDST',
    pattern: /\b[Mm]eanwhile\b/,
    instead: 'name the interval: while the call runs / since the read',
  },
  { id: 'L21', kinds: 'CDST', pattern: /\b[Uu]sual\b/, instead: 'default (value) / typical (case)' },
  { id: 'L22', kinds: 'CDST', pattern: /\bbut for\b/, instead: 'except / apart from' },
  {
    id: 'L23',
    kinds: 'CDST',
    pattern: /\b(?:all the same|without a word|letter for letter|of itself)\b/,
    instead: 'anyway / silently / exactly / automatically',
  },
  {
    id: 'L24',
    kinds: 'C',
    pattern: /^(?:What|Who|Whom|Whose|Whoever|Whatever)\b(?![^.]*\?)/,
    instead: 'open with a noun phrase or a verb in third person',
  },
  {
    id: 'L25',
    kinds: 'C',
    pattern: /^(?:Of|By|Into|Upon|That)\b/,
    instead: 'open with a noun phrase or a verb in third person',
  },
  {
    id: 'L26',
    kinds: 'C',
    pattern: /^(?:It|Its|They|Those|These|One (?:that|of|who|whose|which)|The same|Such)\b/,
    instead: 'dangling subject: name the thing',
  },
  { id: 'L27', kinds: 'CDST', pattern: /\b(?:mend|mends|mended|mending)\b/, instead: 'fix / repair' },
  {
    id: 'L28',
    kinds: 'CDS',
    pattern:
      /^Answers (?!(?:that|which)\b|(?:the|a|an|your|every) (?:question|request|page|messages|call))[a-z]|`x`(?: also)? answers (?:the|a|an|what|one|those|all|whether|its|of)\b|\b(?:it|that|which|call) answers (?:the|a|an|what|those|all|whether|its)\b/,
    instead: 'returns / responds with',
  },
  {
    id: 'L29',
    kinds: 'CDST',
    pattern: /\bsays? (?:how|what|who|whose|which|where|whether)\b/,
    instead: 'explains / states / reports / lists / specifies',
  },
  {
    id: 'L30',
    kinds: 'CDST',
    pattern: /\b(?:of|by|in|to|with|for|from|over|on|into) what\b/,
    instead: 'name the thing instead of `of what …`',
  },
  {
    id: 'L31',
    kinds: 'CDST',
    pattern: /\b(?:is|are|be|been|was|were) forgotten\b|\bforgets\b/,
    instead: 'is deleted / expires / is erased / is evicted',
  },
  {
    id: 'L32',
    kinds: 'CDST',
    pattern: /\bspread (?:over|out)\b|\bsigns? of life\b/,
    instead: 'sharded across / heartbeat',
  },
  {
    id: 'L33',
    kinds: 'CDST',
    pattern: /\b(?:try|tries|tried|trying) (?:it |them |that |this |one )?again\b/,
    instead: 'retry',
  },
  { id: 'L34', kinds: 'CDS', pattern: /\b(?:the|a|its|this) trail\b/, instead: 'audit log' },
  {
    id: 'L35',
    kinds: 'CDST',
    pattern: /\b(?:is|are|was|were) to be\b/,
    instead: 'must be / should be / will be / the one to …',
  },
  {
    id: 'L36',
    kinds: 'CDST',
    pattern: /\bhears? (?:of|it|that|so|about|what)\b|\bhear of\b/,
    instead: 'is notified of / receives',
  },
  {
    id: 'L37',
    kinds: 'CDST',
    pattern:
      /\b(?:take|takes|took|taken) (?:(?:it|them|that|him|an? \w+|the \w+) )?for (?:dead|silent|one|an?|its|the|what)\b/,
    instead: 'treat as / mistake for / assume',
  },
  {
    id: 'L38',
    kinds: 'CDST',
    pattern: /\b(?:call|calls|called|calling) (?:\w+ )?off\b|\b(?:broke|breaks|break|broken) off\b/,
    instead: 'cancel / abort; is interrupted',
  },
  { id: 'L39', kinds: 'CDST', pattern: /\bin hand\b/, instead: 'held / in progress' },
  { id: 'L40', kinds: 'CDST', pattern: /\bby (?:day|night)\b/, instead: 'in the default run / in the nightly run' },
  {
    id: 'L41',
    kinds: 'CDST',
    pattern:
      /\b(?:is|are|was|were|still|keeps?) alive\b|\btaken for dead\b|\b(?:agent|instance|runner|process|holder)s? (?:that )?(?:dies|died)\b/,
    instead: 'online / running; crashed / offline (say which)',
  },
  {
    id: 'L42',
    kinds: 'S',
    pattern: /^There (?:is|are|was|were) no(?:thing)?\b/,
    instead: 'message opens with `There is no`: X not found / No X yet / unknown X',
  },
  {
    id: 'L43',
    kinds: 'CDST',
    pattern: /\bcarr(?:y|ies|ied|ying) (?:\w+ )?over\b|\bmade again\b|\bmakes? (?:\w+ ){0,4}again\b/,
    instead: 'migrate; rebuild / regenerate',
  },
  {
    id: 'L44',
    kinds: 'CDST',
    pattern: /(?<!left )(?<!leave it )(?<!leaves )\balone(?=[.,;:)]|$)/,
    instead: 'only / just (put it before the word it limits)',
  },
  { id: 'L45', kinds: 'T', pattern: /^.{91,}$/, instead: 'at most 90 characters' },
];
