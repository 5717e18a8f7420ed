export function migrationProblems(
  migration: { name: string; text: string },
  isInUse?: (column: string) => boolean,
): string[]
