/** The HTML of the sign-in's pages. No script and no style stands in it, since their policy runs neither. */

export const DOCUMENT = `<!doctype html>
<html lang="{{language}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<link rel="stylesheet" href="{{assets.style}}">
{{#assets.script}}
<script src="{{assets.script}}" defer></script>
{{/assets.script}}
</head>
<body>
{{> content}}
</body>
</html>
`;

export const PROBLEM = `<main>
<h1>{{heading}}</h1>
<p>{{text}}</p>
{{#detail}}
<p class="hint">{{label}}</p>
<p lang="en" class="detail">{{text}}</p>
{{/detail}}
{{#back}}
<p><a class="button" href="{{url}}">{{label}}</a></p>
{{/back}}
</main>`;

/** Who asks, and where it leads back to: what can be said before anybody has signed in. */
const CLIENT = `<h1>{{texts.heading}}</h1>
<dl>
<dt>{{texts.client.name}}</dt>
<dd><bdi class="name">{{name}}</bdi></dd>
<dt>{{texts.client.identity}}</dt>
{{#verified}}
<dd><bdi>{{verified}}</bdi></dd>
{{/verified}}
{{^verified}}
<dd class="doubt">{{texts.client.unverified}}</dd>
{{/verified}}
<dt>{{texts.client.redirect}}</dt>
<dd><bdi>{{redirect.host}}</bdi>{{#redirect.isLocal}} ({{texts.client.local}}){{/redirect.isLocal}}</dd>
</dl>
{{#redirect.isLocal}}
<p class="warning">{{texts.client.warning}}</p>
{{/redirect.isLocal}}
<noscript><p class="warning">{{texts.noScript}}</p></noscript>
<p id="progress" class="progress" role="status"></p>`;

const SIGN_IN = `<section id="sign-in" hidden>
<form id="sign-in-form">
<h2>{{texts.signIn.heading}}</h2>
<p id="sign-in-notice" role="status"></p>
<label for="email">{{texts.signIn.email}}</label>
<input id="email" type="email" required maxlength="256" autocomplete="username" autocapitalize="none"
 spellcheck="false" aria-describedby="sign-in-error">
<div id="password-row" class="row">
<label for="password">{{texts.signIn.password}}</label>
<input id="password" type="password" required autocomplete="current-password" aria-describedby="sign-in-error">
</div>
<p id="sign-in-error" class="error" role="alert"></p>
<button type="submit" class="primary">{{texts.signIn.submit}}</button>
<div id="other-ways">
<button id="send-link" type="button" aria-describedby="send-link-hint">{{texts.signIn.link}}</button>
<p id="send-link-hint" class="hint">{{texts.signIn.linkHint}}</p>
{{#google}}
<button id="google" type="button">{{texts.signIn.google}}</button>
{{/google}}
</div>
<button type="button" class="cancel">{{texts.cancel}}</button>
</form>
</section>`;

const STANDSTILL = `<section id="standstill" hidden>
<h2 tabindex="-1">{{texts.standstill.heading}}</h2>
<p id="standstill-error" class="error" role="alert"></p>
<button id="retry" type="button" class="primary">{{texts.standstill.retry}}</button>
<button type="button" class="another">{{texts.choices.another}}</button>
<button type="button" class="cancel">{{texts.cancel}}</button>
</section>`;

const CHOICES = `<section id="choices" hidden>
<form id="choices-form">
<h2 tabindex="-1">{{texts.choices.heading}}</h2>
<p id="person" class="name"></p>
<button type="button" class="another small">{{texts.choices.another}}</button>
<label for="agent-name">{{texts.choices.agentName}}</label>
<input id="agent-name" type="text" required maxlength="60" autocomplete="off" spellcheck="false"
 aria-describedby="agent-name-hint choices-error">
<p id="agent-name-hint" class="hint">{{texts.choices.agentNameHint}}</p>
<label for="role">{{texts.choices.role}}</label>
<select id="role"></select>
<label for="workspace">{{texts.choices.workspace}}</label>
<select id="workspace"></select>
<fieldset>
<legend>{{texts.choices.toolsets}}</legend>
<div id="toolsets"></div>
</fieldset>
<div class="choice">
<input id="readonly" type="checkbox" role="switch" aria-describedby="readonly-hint">
<div>
<label for="readonly">{{texts.choices.readonly}}</label>
<p id="readonly-hint" class="hint">{{texts.choices.readonlyHint}}</p>
</div>
</div>
<p id="choices-error" class="error" role="alert"></p>
<button id="allow" type="submit" class="primary">{{texts.choices.allow}}</button>
<button type="button" class="cancel">{{texts.cancel}}</button>
</form>
</section>`;

const ENDED = `<section id="ended" hidden>
<h2 tabindex="-1">{{texts.ended.heading}}</h2>
<p id="ended-error" class="error" role="alert"></p>
<p>{{texts.ended.text}}</p>
</section>`;

const DONE = `<section id="done" hidden>
<h2 tabindex="-1">{{texts.done.heading}}</h2>
<p><a id="back" class="button">{{back}}</a></p>
</section>`;

export const CONSENT = `<main id="main">
${[CLIENT, SIGN_IN, STANDSTILL, CHOICES, ENDED, DONE].join('\n')}
</main>
<script type="application/json" id="{{embeddedId}}">{{{embedded}}}</script>`;
