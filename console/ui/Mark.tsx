/** The mark of Muster: two peaks that gather over one point. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M6.5 21.5l5-12 4.5 8 4.5-8 5 12" />
      <circle cx="16" cy="24" r="2.3" />
    </svg>
  );
}
