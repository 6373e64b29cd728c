/** Script of the sign-in page. Tokens stay in memory and are sent in one request only. */
import { clearAddress, loadAddress, storeAddress } from './addresses.ts';
import { ChoicesForm } from './choices.ts';
import { EMBEDDED_ID, type Embedded, fill, isFollowed } from './embedded.ts';
import { Login } from './login.ts';
import { type Decision, Server } from './server.ts';
import { element, Failure, type Problem, View } from './view.ts';

/** Problems after which the page can no longer be used. */
const FINAL: readonly Problem[] = ['expired', 'other_browser'];

// The settings are not validated, because the server that embeds them comes from the same build as this script.
const settings: Embedded = JSON.parse(element(EMBEDDED_ID, HTMLScriptElement).text);
const { authorization, texts } = settings;
const view = new View(texts.wait);
const server = new Server(settings);
const login = new Login(settings);
const form = new ChoicesForm(view, texts);
const email = element('email', HTMLInputElement);
const password = element('password', HTMLInputElement);
const notice = element('sign-in-notice', HTMLElement);

/** Emailed sign-in link that opened the page and was not used yet. */
let link = login.takeLink();
/** Secret that the server has created for this person. It is sent with the person's decision. */
let approval: string | undefined;
/** Email address or name of the person who has signed in. */
let address = '';

/** Runs an action. While it runs, other actions are ignored. */
async function run(act: () => Promise<void>): Promise<void> {
  if (view.isBusy) return;
  view.setBusy(true);
  view.showMessage('');
  notice.textContent = '';
  try {
    await act();
  } catch (error) {
    await fail(error instanceof Failure ? error : new Failure('unknown', { code: 'page' }));
  } finally {
    view.setBusy(false);
  }
}

async function fail({ problem, values }: Failure): Promise<void> {
  const text = fill(texts.errors[problem], { ...values, email: login.email || address });
  if (FINAL.includes(problem)) {
    view.show('ended');
  } else if (problem === 'sign_in_again' || problem === 'usedLink') {
    link = undefined;
    await login.forget();
    showSignIn();
  } else if (login.isSignedIn) {
    view.show('standstill');
  }
  view.showMessage(text);
  if (view.shown === 'sign-in') view.focus(problem === 'credentials' ? password : emptyField());
  if (problem === 'credentials') password.select();
  if (problem === 'name_taken') form.markName();
}

/** If the page was opened by an emailed link, the form asks only for the address. */
function showSignIn(): void {
  const isByLink = link !== undefined;
  for (const id of ['password-row', 'other-ways']) element(id, HTMLElement).hidden = isByLink;
  password.value = '';
  password.disabled = isByLink;
  view.show('sign-in');
  notice.textContent = isByLink ? texts.linkAddress : '';
  view.focus(emptyField());
}

function emptyField(): HTMLInputElement {
  return email.value === '' || link !== undefined ? email : password;
}

async function signIn(): Promise<void> {
  if (link === undefined) {
    await login.withPassword(email.value, password.value);
  } else {
    await login.withLink(email.value, link);
    link = undefined;
    clearAddress(authorization);
  }
  await meet();
}

/** Sends the ID token to the server, and shows the choices. The token is not needed afterwards. */
async function meet(): Promise<void> {
  const offer = await server.offer(await login.token());
  approval = offer.approval;
  address = offer.person.email ?? offer.person.name;
  password.value = '';
  await login.forget();
  view.show('choices');
  form.fill(offer);
}

async function useAnother(): Promise<void> {
  approval = undefined;
  email.value = '';
  await login.forget();
  showSignIn();
}

async function sendLink(): Promise<void> {
  await login.sendLink(email.value);
  storeAddress(authorization, email.value);
  notice.textContent = fill(texts.linkSent, { email: email.value });
}

async function decide(decision: Decision): Promise<void> {
  const location = await server.decide(decision);
  if (!isFollowed(location)) throw new Failure('unavailable');
  clearAddress(authorization);
  element('back', HTMLAnchorElement).href = location;
  view.show('done');
  window.location.assign(location);
}

async function allow(): Promise<void> {
  if (approval === undefined) throw new Failure('sign_in_again');
  await decide({ allow: true, approval, ...form.chosen() });
}

function cancel(): Promise<void> {
  return decide({ allow: false, ...(approval !== undefined && { approval }) });
}

function onSubmit(id: string, act: () => Promise<void>): void {
  element(id, HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    run(act);
  });
}

function onClick(selector: string, act: () => Promise<void>): void {
  for (const button of document.querySelectorAll(selector)) button.addEventListener('click', () => run(act));
}

onSubmit('sign-in-form', signIn);
onSubmit('choices-form', allow);
onClick('#google', async () => {
  await login.withGoogle();
  await meet();
});
for (const button of document.querySelectorAll<HTMLButtonElement>('.sample'))
  button.addEventListener('click', () =>
    run(async () => {
      const { email: account = '', password: secret = '' } = button.dataset;
      await login.withPassword(account, secret);
      await meet();
    }),
  );
onClick('#retry', meet);
onClick('.another', useAnother);
onClick('.cancel', cancel);
element('send-link', HTMLButtonElement).addEventListener('click', () => {
  if (email.reportValidity()) run(sendLink);
});

email.value = (link !== undefined && loadAddress(authorization)) || '';
showSignIn();
if (link !== undefined && email.value !== '') run(signIn);
