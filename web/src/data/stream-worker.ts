// The SharedWorker: a port for each tab, one hub for all.
import { type FromPage, Hub } from './hub';

const hub = new Hub();

(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0];
  const say = hub.join((message) => port.postMessage(message));
  port.onmessage = (got: MessageEvent<FromPage>) => say(got.data);
};
