export function findGuessedWords(line: string): { word: string; instead: string; why: string }[]
