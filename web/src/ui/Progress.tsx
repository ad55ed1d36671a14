/** A bar that fills; without a known end it only says that something goes on. */
export function Progress({ value, label }: { value: number | null; label: string }) {
  const percent = value === null ? null : Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent === null ? {} : { "aria-valuenow": percent })}
      data-open={percent === null}
    >
      <span style={percent === null ? undefined : { width: `${percent}%` }} />
    </div>
  );
}
