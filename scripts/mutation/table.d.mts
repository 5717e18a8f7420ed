export function mutationTable(recorded: Record<string, unknown>): string
