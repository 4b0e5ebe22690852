// The pages that are not the first that people open. They are one part: with one for each, what they share would be cut
// into a dozen files.
export { ClusterPage } from './Cluster';
export { ComparePage } from './Compare';
export { NewPage } from './New';
export { QueuePage } from './Queue';
export { SettingsPage } from './Settings';
