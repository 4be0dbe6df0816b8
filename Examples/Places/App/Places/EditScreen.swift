import PlacesCore
import PointsOfInterestClient
import SwiftUI

/// A place as a person with an editor's key edits it.
struct EditScreen: View {
    private static let statuses = [
        "", OperatingStatus.temporarilyClosed.rawValue, OperatingStatus.permanentlyClosed.rawValue,
    ]

    let onDone: @MainActor () -> Void

    @State private var model: PlaceEditModel
    /// While the service is asked nothing can be entered: it would be lost.
    @State private var isWorking = false
    @State private var asksForRemoval = false
    @Environment(\.dismiss) private var dismiss

    init(model: PlaceEditModel, onDone: @escaping @MainActor () -> Void) {
        self.onDone = onDone
        _model = State(initialValue: model)
    }

    var body: some View {
        NavigationStack {
            Form {
                if let message = model.message {
                    Label(message, systemImage: "exclamationmark.triangle")
                }
                rows
            }
            .disabled(isWorking)
            .navigationTitle("Edit place")
            .navigationBarTitleDisplayMode(.inline)
            .toolbar {
                Button("Cancel") { dismiss() }
                if model.phase == .editing {
                    Button("Save") { perform(.save) }
                        .disabled(isWorking)
                }
            }
            .task { if model.phase == .loading { perform(.load) } }
        }
        .interactiveDismissDisabled(isWorking)
    }

    @ViewBuilder private var rows: some View {
        switch model.phase {
        case .loading: Loading()
        case .failed: Button("Try again") { perform(.load) }
        case .editing: fields
        case .conflict:
            Section {
                Text(model.otherChanges.joined(separator: "\n"))
            } header: {
                Text("What somebody else has changed")
            } footer: {
                Text("What you alone have changed stays in both cases.")
            }
            Button("Keep mine") { perform(.keepMine) }
            Button("Take theirs") { perform(.takeTheirs) }
        case .unknownOutcome: Button("Try again") { perform(.tryAgain) }
        case .done: EmptyView()
        }
    }

    @ViewBuilder private var fields: some View {
        Section {
            ForEach(PlaceEditModel.Field.allCases) { field in
                entry(of: field)
                if let fault = model.faults[field] { Text(fault).font(.footnote).foregroundStyle(.red) }
            }
        }
        Section {
            Button("Remove this place", role: .destructive) { asksForRemoval = true }
                .confirmationDialog(
                    "Remove this place?", isPresented: $asksForRemoval, titleVisibility: .visible
                ) {
                    Button("Remove", role: .destructive) { perform(.remove) }
                }
        }
    }

    @ViewBuilder
    private func entry(of field: PlaceEditModel.Field) -> some View {
        let title = Wording.title(of: field)
        if field == .operatingStatus {
            Picker(title, selection: $model[field]) {
                ForEach(Self.statuses, id: \.self) { Text(Wording.value($0, of: field)).tag($0) }
            }
        } else {
            LabeledContent(title) { TextField(title, text: $model[field]) }
        }
    }

    private func perform(_ action: PlaceEditModel.Action) {
        guard !isWorking else { return }
        isWorking = true
        Task {
            model = await model.after(action)
            isWorking = false
            guard model.phase == .done else { return }
            onDone()
            dismiss()
        }
    }
}

#if DEBUG
    struct EditScreen_Previews: PreviewProvider {
        static var previews: some View {
            EditScreen(model: PlaceEditModel(id: 1, editor: .preview()), onDone: {})
        }
    }
#endif
