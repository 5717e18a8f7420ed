export { type Config, ConfigError, environmentSchema, parseConfig } from './config.ts'
export { runNode } from './main.ts'
export { type NodeOptions, type RunningNode, startNode } from './node.ts'
