/** Shows an error instead of a screen that fails to render, so that the rest of the page stays usable. */
import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';

export function Boundary({ children }: { readonly children: ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary((thrown: unknown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <p class="notice error" role="alert">
      This screen cannot be shown.{' '}
      <button type="button" class="plain" onClick={tryAgain}>
        Try again
      </button>
    </p>
  );
}
