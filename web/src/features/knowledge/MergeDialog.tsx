import { ArrowRight } from "lucide-react";
import { useState } from "react";
import type { KnowledgeNode, KnowledgeNodeDetail } from "../../api/types";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { NodePicker } from "./NodePicker";

export function MergeDialog({
  node,
  open,
  onClose,
  onMerge,
}: {
  node: KnowledgeNodeDetail;
  open: boolean;
  onClose: () => void;
  onMerge: (into: KnowledgeNode) => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={t.knowledge.entity.mergeTitle(node.label)}>
      <Body node={node} onClose={onClose} onMerge={onMerge} />
    </Dialog>
  );
}

function Body({
  node,
  onClose,
  onMerge,
}: {
  node: KnowledgeNodeDetail;
  onClose: () => void;
  onMerge: (into: KnowledgeNode) => void;
}) {
  const [into, setInto] = useState<KnowledgeNode | null>(null);
  return (
    <>
      <p className="muted">{t.knowledge.entity.mergeHint}</p>
      <NodePicker label={t.knowledge.entity.mergeSearch} without={new Set([node.id])} onPick={setInto} />
      {into ? (
        <div className="merge-sum">
          <span className="truncate">{node.label}</span>
          <ArrowRight size={16} aria-hidden />
          <strong className="truncate">{into.label}</strong>
        </div>
      ) : null}
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button
          kind="primary"
          disabled={into === null}
          onClick={() => {
            if (into === null) return;
            onMerge(into);
            onClose();
          }}
        >
          {t.knowledge.entity.mergeDo}
        </Button>
      </div>
    </>
  );
}
