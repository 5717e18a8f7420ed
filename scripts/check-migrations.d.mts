export function migrationProblems(
  migration: { name: string; text: string },
  isInUse?: (column: string) => boolean,
): string[]
export function baselineProblems(
  fixed: Record<string, string>,
  migrations: readonly { name: string; text: string }[],
): string[]
