// Plays seeds for run-many.ts, one after the other.
import { setPriority } from 'node:os'
import { answerCommands } from '../../bench/process/commands.ts'
import { playSeed } from './play-seed.ts'

// Whatever else the machine has to do comes first.
setPriority(19)
answerCommands({ play: playSeed }, async () => {})
