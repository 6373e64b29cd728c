import { render } from 'preact';
import { clearAll, followVisibility } from './live/live.ts';
import { followTime } from './live/time.ts';
import { lazy } from './parts/lazy.tsx';
import { followLinks } from './router.ts';
import { SignIn } from './session/SignIn.tsx';
import { session, startSession } from './session/session.ts';
import './style/page.css';

/** Modules that only signed-in people need. */
const Shell = lazy(async () => (await import('./shell/Shell.tsx')).Shell);

function Page() {
  const now = session.value;
  if (now.state === 'starting') return <p class="starting">Muster is starting.</p>;
  if (now.state === 'failed') {
    return (
      <p class="starting" role="alert">
        Muster cannot start: {now.why} Reload the page. If that fails, contact your administrator.
      </p>
    );
  }
  if (now.state === 'signedIn') return <Shell key={now.person.uid} person={now.person} />;
  return <SignIn />;
}

const element = document.getElementById('page');
if (element === null) throw new Error('index.html has no element "page".');
followLinks();
followTime();
followVisibility();
session.subscribe(({ state }) => {
  if (state === 'signedOut') clearAll();
});
element.replaceChildren();
render(<Page />, element);
void startSession();
