import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/kit.css";
import "./styles/frame.css";
import "./styles/markdown.css";
import "./styles/thread.css";
import "./styles/verdicts.css";
import "./styles/pages.css";
import "./styles/documents.css";
import "./styles/knowledge.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
